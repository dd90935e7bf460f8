"""A right solution of part A of homework 0 that looks nothing like the reference."""

from collections import Counter

from autograder.catalogue import alternative


@alternative(of="different_words")
def by_counting(text):
    counts = Counter(word.casefold() for word in text.split(" ") if word)
    return len(counts)
