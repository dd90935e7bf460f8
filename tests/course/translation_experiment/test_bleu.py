"""BLEU on words is sacrebleu's, and its parts are what Papineni et al. (2002) count by hand."""

from random import Random

import pytest
from sacrebleu import corpus_bleu as sacrebleu

from course.translation_experiment.bleu import corpus_bleu, right_runs

WORDS = ["le", "chat", "noir", "dort", "dans", "la", "maison", "de", "neige", "."]


def sentences(n, longest, seed):
    rng = Random(seed)
    return [rng.choices(WORDS, k=rng.randint(1, longest)) for _ in range(n)]


def spoilt(words, rng):
    """The same words, some of them replaced, and perhaps the end cut off."""
    changed = [rng.choice(WORDS) if rng.random() < 0.3 else word for word in words]
    return changed[: rng.randint(1, len(changed))] if rng.random() < 0.3 else changed


def theirs(written, right):
    lines = [[" ".join(words) for words in side] for side in (written, right)]
    return sacrebleu(lines[0], [lines[1]]).score


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("longest", [3, 6, 20])
def test_it_is_sacrebleu_s_number_on_texts_with_spaces_between_all_words(seed, longest):
    right = sentences(8, longest, seed)
    rng = Random(seed)
    written = [spoilt(words, rng) for words in right]
    assert corpus_bleu(written, right) == pytest.approx(theirs(written, right), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_runs_that_are_never_right_are_smoothed_as_sacrebleu_does(seed):
    written, right = sentences(2, 7, seed), sentences(2, 7, seed + 100)
    assert corpus_bleu(written, right) == pytest.approx(theirs(written, right), abs=1e-9)


def test_a_word_that_is_repeated_counts_only_as_often_as_it_is_right():
    written, right = [["the"] * 7], [["the", "cat", "is", "on", "the", "mat"]]
    assert right_runs(written, right, 1) == (2, 7)  # the example of the paper


def test_nothing_written_scores_zero():
    assert corpus_bleu([[]], [["le", "chat"]]) == 0.0


def test_sentences_without_partners_are_refused():
    with pytest.raises(ValueError, match="equally many"):
        corpus_bleu([["a"]], [])
