"""The character tokenizer."""

import pytest

from course.tokenizers import Tokenizer
from course.tokenizers.characters import CharacterTokenizer


def test_the_alphabet_is_sorted_whatever_the_order_of_the_text():
    assert CharacterTokenizer.train("banana é") == CharacterTokenizer.train("é nabanab")
    assert CharacterTokenizer.train("banana é").alphabet == " abné"


def test_decoding_undoes_encoding():
    text = "To be, or\nnot to be"
    tokenizer = CharacterTokenizer.train(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert CharacterTokenizer("abc").encode("cab") == [2, 0, 1]
    assert isinstance(tokenizer, Tokenizer)


def test_a_character_outside_the_alphabet_is_an_error():
    with pytest.raises(ValueError, match="'z' is not in the alphabet of 3"):
        CharacterTokenizer("abc").encode("abz")


@pytest.mark.parametrize("token", [-1, 3])
def test_a_token_outside_the_alphabet_is_an_error(token):
    with pytest.raises(IndexError, match=f"from 0 to 2, received {token}"):
        CharacterTokenizer("abc").decode([token])


def test_an_empty_text_is_an_error():
    with pytest.raises(ValueError, match="it is empty"):
        CharacterTokenizer.train("")
