"""Measures of translations and of attention maps, against counts made by hand."""

from random import Random

import pytest
import torch

from course.data.translation_pair import (
    TranslationConfig,
    alignment_matrix,
    translation_pairs,
    translation_vocabularies,
)
from course.translation_experiment.parallel_text import parallel_text
from course.translation_experiment.quality import (
    attention_links,
    error_rate,
    longest_translation,
    quality,
    share_in_place,
    translations,
)

CONFIG = TranslationConfig(min_length=5, max_length=14)
VOCABULARIES = translation_vocabularies(CONFIG.lexicon)


@pytest.fixture(scope="module")
def pairs():
    return translation_pairs(CONFIG, 30, Random(0))


class LooksAtTheGold:
    """Attends where the gold alignment says, moved by some places; knows the pairs by their sources."""

    def __init__(self, pairs, shift=0):
        self.pairs = {tuple(VOCABULARIES[0].encode(pair.source)): pair for pair in pairs}
        self.shift = shift

    def alignment(self, source, target):
        weights = torch.zeros(*target.shape, source.shape[1])
        for row, tokens in zip(weights, source.tolist(), strict=True):
            pair = self.pairs[tuple(token for token in tokens if token != 0)]
            gold = alignment_matrix(pair).float()
            row[: len(pair.target), : len(pair.source)] = gold.roll(self.shift, dims=1)
        return weights


class Knows:
    """Translates by looking up the right answer, and goes on after </s> as a careless model might."""

    def __init__(self, text):
        self.answers = {
            tuple(source[mask].tolist()): target[1:]
            for source, mask, target in zip(
                text.source.tokens, text.source.mask, text.target.tokens, strict=True
            )
        }

    def translate(self, source, bos, eos, max_length):
        answers = torch.stack([self.answers[tuple(row[row != 0].tolist())] for row in source])
        return answers[:, :max_length]


def test_attention_at_the_gold_alignment_has_no_error(pairs):
    links = attention_links(LooksAtTheGold(pairs), pairs, *VOCABULARIES, batch_size=7)
    assert error_rate(links, pairs) == 0


def test_attention_one_place_beside_the_gold_alignment_is_mostly_wrong(pairs):
    links = attention_links(LooksAtTheGold(pairs, shift=1), pairs, *VOCABULARIES, batch_size=7)
    assert error_rate(links, pairs) > 0.9


def test_every_word_of_the_right_translation_has_one_link(pairs):
    links = attention_links(LooksAtTheGold(pairs), pairs, *VOCABULARIES)
    assert [[t for _, t in some] for some in links] == [list(range(len(pair.target))) for pair in pairs]


def test_translations_come_back_in_order_and_in_words(pairs):
    text = parallel_text([(pair.source, pair.target) for pair in pairs], *VOCABULARIES)
    written = translations(Knows(text), text, VOCABULARIES[1], batch_size=7)
    assert written == [list(pair.target) for pair in pairs]


def test_free_running_may_write_as_many_words_as_any_translation_needs(pairs):
    for length in (5, 30, 60):
        some = translation_pairs(TranslationConfig(min_length=length, max_length=length), 20, Random(1))
        assert max(len(pair.target) for pair in some) < longest_translation(length)


def test_words_are_counted_in_their_places():
    right = [["le", "chat", "noir", "dort"], ["il", "rit"]]
    written = [["le", "chat", "dort"], ["il", "rit", "rit"]]  # "noir" left out: "dort" is out of place
    assert share_in_place(written, right) == pytest.approx(4 / 6)


def test_a_translation_matches_only_if_every_word_does():
    right = [["a"], ["a", "b"], ["a", "b", "c"], ["d"]]
    result = quality([["a"], ["a", "c"], ["a", "b", "c", "c"], ["d"]], right)
    assert (result.n_sentences, result.exact_match) == (4, 0.5)


def test_right_translations_have_a_perfect_score(pairs):
    words = [list(pair.target) for pair in pairs]
    result = quality(words, words)
    assert (result.exact_match, result.token_accuracy) == (1, 1)
    assert result.bleu == pytest.approx(100)
