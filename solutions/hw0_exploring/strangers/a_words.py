"""Counts of words that the visible checks once let pass."""

from autograder.proving.strangers import stranger


@stranger(of="different_words")
def first_word_taken_for_granted(text):
    words = text.lower().split()
    seen = [words[0]]
    for word in words[1:]:
        if word not in seen:
            seen.append(word)
    return len(seen)


@stranger(of="different_words")
def only_neighbours_compared(text):
    words = text.lower().split()
    return sum(word != before for before, word in zip([None, *words], words, strict=False))
