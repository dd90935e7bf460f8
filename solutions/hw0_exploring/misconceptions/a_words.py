"""What goes wrong in part A of homework 0: counting words."""

from autograder.catalogue import misconception

# 1. different_words


@misconception(of="different_words")
def all_words_counted(text):
    """Every word is counted each time it occurs.

    In the example, how often does your count pass the word "the"? What is asked is how many there are to tell
    apart.
    """
    return len(text.split())


@misconception(of="different_words")
def letters_counted(text):
    """The different letters are counted, not the words.

    What does `set("the cat")` hold? What is one entry of a text, and what should it be here?
    """
    return len(set(text.lower()) - {" "})


@misconception(of="different_words")
def capitals_told_apart(text):
    """A word with a capital letter is taken for another word.

    Are "The" and "the" one word or two here? Are they equal for Python?
    """
    return len(set(text.split()))


@misconception(of="different_words")
def only_words_that_occur_once(text):
    """Words that occur several times are left out altogether.

    In the example, is "the" one of the different words?
    """
    words = text.lower().split()
    return sum(words.count(word) == 1 for word in words)


@misconception(of="different_words")
def empty_string_counted(text):
    """The text is split at single spaces, so the empty text has a word: the empty string.

    What are `"".split(" ")` and `"".split()`, and what comes out for two spaces in a row?
    """
    return len(set(text.lower().split(" ")))
