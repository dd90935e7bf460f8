"""The word tokenizer."""

import pytest

from course.tokenizers import Tokenizer
from course.tokenizers.words import WordTokenizer, join_words, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't go, Ada.", ["Don't", "go", ",", "Ada", "."]),
        ("a well-known (old) café?!", ["a", "well-known", "(", "old", ")", "café", "?", "!"]),
        (" \n ", []),
        ("3 > 2", ["3", ">", "2"]),
    ],
)
def test_words_and_marks_are_separated(text, words):
    assert split_words(text) == words


def test_marks_are_set_close_to_their_words():
    text = "a well-known (old) café, isn't it?"
    assert join_words(split_words(text)) == text


def test_known_words_survive_and_unknown_words_are_named_unknown():
    tokenizer = WordTokenizer.train("the cat sees the dog.")
    assert tokenizer.decode(tokenizer.encode("the dog sees\nthe bird.")) == "the dog sees the <unk>."
    assert isinstance(tokenizer, Tokenizer)


def test_the_size_of_the_vocabulary_can_be_limited():
    tokenizer = WordTokenizer.train("a a a b b c", max_size=4)
    assert tokenizer.vocab_size == 4
    assert tokenizer.encode("a b c") == [2, 3, tokenizer.vocabulary.unk]


def test_an_empty_text_is_an_error():
    with pytest.raises(ValueError, match="the corpus is empty"):
        WordTokenizer.train(" ")
