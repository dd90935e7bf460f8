"""The file's tokenizer, run by the course's byte-pair encoding, against the library `tokenizers`."""

import inspect
import random
from pydoc_data.topics import topics

import pytest

import course.models


def english_and_code():
    """400 pieces of Python's documentation and of the course's own source."""
    documentation = "\n".join(topics[name] for name in sorted(topics))
    modules = [getattr(course.models, name) for name in course.models.__all__]
    source = "".join(inspect.getsource(each) for each in modules)
    rng = random.Random(0)
    for text in (documentation, source):
        for _ in range(200):
            start = rng.randrange(len(text) - 400)
            yield text[start : start + rng.randint(1, 400)]


def hostile():
    """600 texts of characters that are hard to cut, up to any code point that Unicode has assigned."""
    alphabet = [*"aB  \n\t\réß½²Ⅳ①一٣🙂_-'ₐ109.", "'s", "'LL", "\x00", "\x1c", "\xa0", "\u2028", "e\u0301"]
    alphabet += ["<|im_end|>", "<|im_start|>", "<|im_end", "|>", "<reponame>"]
    alphabet += ["👩\u200d👩\u200d👧", "\ufeff", "กำ"]
    rng = random.Random(1)
    for n in range(600):
        kind = rng.sample(alphabet, rng.randint(1, len(alphabet)))
        if n % 3 == 0:
            kind += [chr(rng.randrange(0x20, 0xD800)) for _ in range(5)]
        if n % 7 == 0:
            kind += [chr(rng.randrange(0xE000, 0x110000)) for _ in range(5)]
        yield "".join(rng.choices(kind, k=rng.randint(1, 120)))


@pytest.mark.parametrize("texts", [english_and_code, hostile], ids=["english_and_code", "hostile"])
def test_every_text_has_the_tokens_of_the_library(smollm2, in_tokenizers, texts):
    drawn = list(texts())
    theirs = in_tokenizers(drawn, add_special_tokens=False)["input_ids"]
    different = [
        text for text, tokens in zip(drawn, theirs, strict=True) if smollm2.tokenizer.encode(text) != tokens
    ]
    assert different == []


def test_english_and_code_come_back_as_they_were(smollm2):
    tokenizer = smollm2.tokenizer
    assert [text for text in english_and_code() if tokenizer.decode(tokenizer.encode(text)) != text] == []


def test_digits_are_tokens_of_their_own(smollm2):
    tokens = smollm2.tokenizer.encode("in 1984 AD")
    assert [smollm2.tokenizer.decode([token]) for token in tokens] == ["in", " ", "1", "9", "8", "4", " AD"]


def test_a_byte_without_a_token_is_left_out(smollm2, in_tokenizers):
    """The file has no token for the control character U+0004."""
    assert smollm2.tokenizer.encode("a\x04b") == in_tokenizers("a\x04b")["input_ids"]
    assert smollm2.tokenizer.decode(smollm2.tokenizer.encode("a\x04b")) == "ab"
