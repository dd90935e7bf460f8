"""Unigram: against the `tokenizers` library, and against trying every way to cut a word."""

import math
from collections import Counter

import pytest
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import models

from course.tokenizers import Tokenizer
from course.tokenizers.unigram import UnigramTokenizer, split_at_spaces
from course.tokenizers.unigram_cuts import Pieces, best_cut, expected_counts
from course.tokenizers.unigram_training import candidates, em_step, learn_unigrams, prune

PROBS = {"a": 0.2, "b": 0.15, "ab": 0.1, "ba": 0.2, "aba": 0.05, "c": 0.3}
PIECES = Pieces({piece: math.log(p) for piece, p in PROBS.items()})


@pytest.fixture(scope="module")
def word_counts(documentation) -> Counter[str]:
    return Counter(split_at_spaces(documentation[:8_000]))


@pytest.fixture(scope="module")
def trained(documentation) -> UnigramTokenizer:
    return UnigramTokenizer.train(documentation[:8_000], 250, n_seed=600)


def every_cut(word: str, pieces: Pieces) -> list[tuple[list[str], float]]:
    """All ways to cut the word, each with its log-probability."""
    if not word:
        return [([], 0.0)]
    return [
        ([piece, *rest], log_prob + rest_log_prob)
        for piece, log_prob in pieces.log_probs.items()
        if word.startswith(piece)
        for rest, rest_log_prob in every_cut(word[len(piece) :], pieces)
    ]


@pytest.mark.parametrize("word", ["a", "abab", "abaabab", "cabbabac"])
def test_the_best_cut_is_the_best_of_all(word):
    cuts = every_cut(word, PIECES)
    best, _ = max(cuts, key=lambda cut: cut[1])
    assert best_cut(word, PIECES) == best
    without, _ = max((cut for cut in cuts if "ba" not in cut[0]), key=lambda cut: cut[1])
    assert best_cut(word, PIECES, without="ba") == without


@pytest.mark.parametrize("word", ["a", "abab", "abaabab", "cabbabac"])
def test_expected_counts_are_averages_over_all_cuts(word):
    cuts = every_cut(word, PIECES)
    total = sum(math.exp(log_prob) for _, log_prob in cuts)
    expected = Counter()
    for cut, log_prob in cuts:
        for piece in cut:
            expected[piece] += math.exp(log_prob) / total
    counts, log_prob = expected_counts(word, PIECES)
    assert counts == pytest.approx(dict(expected))
    assert log_prob == pytest.approx(math.log(total))


def test_a_very_long_word_does_not_underflow():
    counts, log_prob = expected_counts("ab" * 2_000, PIECES)
    assert math.isfinite(log_prob)
    assert sum(count * len(piece) for piece, count in counts.items()) == pytest.approx(4_000)


def log_likelihood(word_counts: Counter[str], log_probs: dict[str, float]) -> float:
    pieces = Pieces(log_probs)
    return sum(count * expected_counts(word, pieces)[1] for word, count in word_counts.items())


def test_a_step_of_em_never_lowers_the_likelihood(word_counts):
    log_probs = candidates(word_counts, 300)
    likelihoods = []
    for _ in range(4):
        likelihoods.append(log_likelihood(word_counts, log_probs))
        log_probs = em_step(word_counts, log_probs)
        assert sum(map(math.exp, log_probs.values())) == pytest.approx(1)
    assert likelihoods == sorted(likelihoods)
    assert likelihoods[-1] > likelihoods[0]


def test_pruning_keeps_the_pieces_whose_loss_costs_most():
    word_counts = Counter({"abab": 50, "cac": 30, "ba": 2})
    probs = {"a": 0.1, "b": 0.1, "c": 0.1, "abab": 0.4, "ca": 0.2, "ba": 0.1}
    log_probs = {piece: math.log(p) for piece, p in probs.items()}
    assert set(prune(word_counts, log_probs, 5)) == {"a", "b", "c", "abab", "ca"}
    assert set(prune(word_counts, log_probs, 4)) == {"a", "b", "c", "abab"}


def test_training_reaches_the_size_asked_for_and_keeps_every_character(word_counts):
    log_probs = learn_unigrams(word_counts, 200, n_seed=500)
    assert len(log_probs) == 200
    assert {character for word in word_counts for character in word} <= set(log_probs)


def test_tokens_are_those_of_the_library(trained, documentation, hard_texts):
    """Where two cuts are equally probable either is right; otherwise the tokens are the same."""
    library = LibraryTokenizer(models.Unigram([("<unk>", -99.0), *trained.pieces], 0))
    log_probs = dict(trained.pieces)
    for word in set(split_at_spaces(" ".join([documentation[:20_000], *hard_texts]))):
        known = "".join(character for character in word if character in log_probs)
        ours = best_cut(known, Pieces(log_probs))
        theirs = library.encode(known).tokens
        assert ours == theirs or sum(map(log_probs.get, ours)) == pytest.approx(
            sum(map(log_probs.get, theirs)), abs=1e-9
        )


def test_decoding_undoes_encoding(trained, documentation):
    assert trained.decode(trained.encode(documentation[:5_000])) == documentation[:5_000]
    assert isinstance(trained, Tokenizer)


@pytest.mark.parametrize("text", ["", " ", "  two  spaces ", "the"])
def test_spaces_are_kept(trained, text):
    assert trained.decode(trained.encode(text)) == text


def test_an_unknown_character_is_one_unknown_token(trained):
    tokens = trained.encode("the ☃ class")
    assert tokens.count(0) == 1
    assert trained.decode(tokens) == "the <unk> class"


def test_a_more_probable_cut_wins_over_a_longer_piece():
    pieces = {"▁": 0.1, "a": 0.3, "b": 0.3, "ab": 0.05}
    tokenizer = UnigramTokenizer(tuple((piece, math.log(p)) for piece, p in pieces.items()))
    assert [tokenizer.pieces[token - 1][0] for token in tokenizer.encode("ab")] == ["▁", "a", "b"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: UnigramTokenizer.train(" \n", 10), "the corpus is empty"),
        (lambda: UnigramTokenizer.train("abc abc", 4), r"at least 5 \(characters and <unk>\), got 4"),
        (lambda: UnigramTokenizer((("a", 0.0),)).decode([2]), "from 0 to 1, received 2"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises((ValueError, IndexError), match=message):
        call()
