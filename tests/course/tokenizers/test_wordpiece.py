"""WordPiece: encodings against the `tokenizers` library, merges against the likelihood they raise."""

import math
from collections import Counter
from itertools import pairwise

import pytest
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import models, pre_tokenizers

from course.tokenizers import Tokenizer
from course.tokenizers.wordpiece import (
    UNKNOWN,
    WordPieceTokenizer,
    best_pair,
    initial_pieces,
    learn_pieces,
    longest_match,
    replace_pair,
)
from course.tokenizers.words import split_words


@pytest.fixture(scope="module")
def trained(documentation) -> WordPieceTokenizer:
    return WordPieceTokenizer.train(documentation[:10_000], 220)


def test_tokens_are_those_of_the_library(trained, documentation, hard_texts):
    library = LibraryTokenizer(
        models.WordPiece(trained.index, unk_token=UNKNOWN, max_input_chars_per_word=10_000)
    )
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    for text in [documentation, *hard_texts]:
        words = " ".join(split_words(text))
        assert trained.encode(text) == library.encode(words).ids


def log_likelihood(words: dict[str, list[str]], word_counts: Counter[str]) -> float:
    """Σ log P(piece) over the corpus, each piece with its own frequency as probability."""
    pieces = Counter()
    for word, spelling in words.items():
        for piece in spelling:
            pieces[piece] += word_counts[word]
    total = sum(pieces.values())
    return sum(count * math.log(count / total) for count in pieces.values())


def test_the_best_pair_is_the_one_of_the_largest_quotient():
    word_counts = Counter({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5})
    words = {word: initial_pieces(word) for word in word_counts}
    pieces, pairs = Counter(), Counter()
    for word, spelling in words.items():
        for _ in range(word_counts[word]):
            pieces.update(spelling)
            pairs.update(pairwise(spelling))
    quotients = {pair: count / pieces[pair[0]] / pieces[pair[1]] for pair, count in pairs.items()}
    assert best_pair(words, word_counts) == max(quotients, key=quotients.get) == ("##g", "##s")


def test_the_best_pair_raises_the_likelihood_per_occurrence_most():
    word_counts = Counter({"hug": 40, "pug": 25, "pun": 62, "bun": 34, "hugs": 25})
    words = {word: initial_pieces(word) for word in word_counts}
    before = log_likelihood(words, word_counts)
    gains = {}
    for pair in {pair for spelling in words.values() for pair in pairwise(spelling)}:
        after = {word: replace_pair(spelling, pair) for word, spelling in words.items()}
        n = sum(word_counts[word] * list(pairwise(words[word])).count(pair) for word in words)
        gains[pair] = (log_likelihood(after, word_counts) - before) / n
    assert max(gains, key=gains.get) == best_pair(words, word_counts)


def test_characters_come_first_and_merges_in_the_order_learned():
    assert learn_pieces({"abab": 3, "c": 1}, 6) == ["##a", "##b", "a", "c", "##ab", "##bab"]


def test_training_ends_when_no_pair_is_left():
    assert learn_pieces({"ab": 1}, 99) == ["##b", "a", "ab"]


def test_the_longest_piece_wins_even_if_the_rest_then_fails():
    pieces = {"un": 0, "unaf": 1, "##able": 2, "##aff": 3, "##fable": 4}
    assert longest_match("unaffable", pieces) == ["unaf", "##fable"]
    assert longest_match("unable", pieces) == ["un", "##able"]
    assert longest_match("unafable", {"un": 0, "unaf": 1, "##afable": 2}) is None


def test_a_word_that_cannot_be_spelt_is_unknown_as_a_whole(trained):
    assert trained.decode(trained.encode("the classж or")) == f"the {UNKNOWN} or"


def test_known_words_survive(trained):
    assert trained.decode(trained.encode("the class  statement, (or)")) == "the class statement, (or)"
    assert isinstance(trained, Tokenizer)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: WordPieceTokenizer.train(" ", 10), "the corpus is empty"),
        (lambda: WordPieceTokenizer.train("abc", 3), "expected at least 3, one per character; got 2"),
        (lambda: WordPieceTokenizer(("a",)).decode([1]), "from 0 to 0, received 1"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises((ValueError, IndexError), match=message):
        call()
