"""Pre-tokens, compared with the `tokenizers` library."""

from tokenizers import pre_tokenizers

from course.tokenizers.byte_symbols import SINGLE_BYTES, from_visible, visible
from course.tokenizers.pre_tokens import split_digits_apart, split_pre_tokens


def split_by_library(text: str) -> list[bytes]:
    pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return [from_visible(piece) for piece, _ in pre_tokenizer.pre_tokenize_str(text)]


def test_real_text_is_cut_as_by_the_library(documentation):
    assert [piece.encode() for piece in split_pre_tokens(documentation)] == split_by_library(documentation)


def test_hard_texts_are_cut_as_by_the_library(hard_texts):
    for text in hard_texts:
        assert [piece.encode() for piece in split_pre_tokens(text)] == split_by_library(text)


def test_nothing_is_lost(hard_texts, documentation):
    for text in [*hard_texts, documentation]:
        assert "".join(split_pre_tokens(text)) == text


def test_a_space_belongs_to_the_following_word():
    assert split_pre_tokens("I don't know 42!") == ["I", " don", "'t", " know", " 42", "!"]
    assert split_pre_tokens("a   b\n\nc ") == ["a", "  ", " b", "\n", "\n", "c", " "]


def test_each_byte_has_one_visible_character():
    assert [from_visible(visible(byte)) for byte in SINGLE_BYTES] == list(SINGLE_BYTES)
    assert {len(visible(byte)) for byte in SINGLE_BYTES} == {1}


def test_the_visible_characters_are_those_of_the_library():
    assert {visible(byte) for byte in SINGLE_BYTES} == set(pre_tokenizers.ByteLevel.alphabet())


def test_digits_apart_are_cut_as_the_library_cuts_them(documentation, hard_texts):
    theirs = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    for text in [documentation, "in 1984, ٣½²Ⅳ7  8 ", *hard_texts]:
        pieces = [from_visible(piece).decode() for piece, _ in theirs.pre_tokenize_str(text)]
        assert split_digits_apart(text) == pieces
