# %% [markdown]
# ## Part A. How checks work
#
# First a word from the model of part C. Two texts break off, "Once upon a …" and "The students opened their …". Think
# of a next word for each; then run the cell.

# %% alive="a_first_guess"
print(predict("Once upon a"))
print(predict("The students opened their"))

# %% [markdown] exercise="different_words" difficulty=1 minutes=8
# ### 1. A first function
#
# Write `different_words(text)`: how many **different** words does a text have? Words are separated by
# spaces, and capital and small letters count as the same. A text without words has 0.
#
# **Example.** `"The cat saw the dog and the bird"` has 6 different words: the, cat, saw, dog, and, bird.
#
# Try the checks three times. First run the next three cells as they are, and read what the checks say. Then
# let the function return `len(text.split())`, run it and the checks, and read again: now they tell you what
# your function returned, what was expected, and which mistake that looks like. Then fix it.
#
# <details><summary>Hint 1</summary>
#
# `text.split()` is the list of the words. Which container of Python holds each thing only once?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# To Python, "The" and "the" are different strings. `help(str)` lists the methods of a string; one of them
# writes everything in small letters.
#
# </details>


# %% solution="different_words"
def different_words(text: str) -> int:
    """How many different words a text has, capital letters or not."""
    ### BEGIN SOLUTION
    return len(set(text.lower().split()))
    ### END SOLUTION


# %% check="the_example_has_six_words" points=1
def the_example_has_six_words(different_words):
    """`The cat saw the dog and the bird` has 6 different words."""
    assert_equal(different_words("The cat saw the dog and the bird"), 6)


# %% check="saying_it_again_adds_no_word" points=1
def saying_it_again_adds_no_word(different_words):
    """A text said three times has as many different words as said once, here 5; `no no no` has one, the empty text none."""
    assert_equal(different_words(" ".join(["we all saw one bird"] * 3)), 5)
    assert_equal(different_words("no no no"), 1)
    assert_equal(different_words(""), 0)


# %% check="other_texts_have_their_words" points=1 hidden
def other_texts_have_their_words(different_words, draw):
    """Other texts get the right number of different words."""
    words = ["mill", "River", "bridge", "river", "Ox", "ox", "OX", "a"]
    for length in (40, 25):
        text = " ".join([*words, *draw.sentence(words, length)])
        assert_equal(different_words(text), 5)
