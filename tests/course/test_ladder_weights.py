"""The recorded weights are those of the record: they score, to a thousandth of a bit, what it says."""

import pytest
import torch

from course.evaluation import token_nll
from course.ladder import RUNGS, SCALES, Corpus, climb, read_recorded, recorded_model
from course.ladder.climb import measure
from course.ladder.kinds import bits_by_kind, kinds
from course.ladder.weights import SEED, WEIGHTS, kept, save_weights

NETWORKS = [name for name, rung in RUNGS.items() if rung.training is not None]
MOST_BYTES = 5_000_000


@pytest.fixture(scope="module")
def corpus():
    return Corpus(SCALES["default"], SEED)


@pytest.mark.parametrize("name", kept())
def test_recorded_bits_follow_from_recorded_weights(name, corpus):
    (recorded,) = (each for each in read_recorded() if (each.rung, each.seed) == (name, SEED))
    measured, _, by_kind = measure(recorded_model(name, corpus), corpus)
    assert measured.bits_per_token == pytest.approx(recorded.bits_per_token, abs=1e-3)
    assert by_kind == pytest.approx(recorded.by_kind, abs=1e-2)


def test_the_weights_are_those_of_networks_and_are_light():
    files = sorted(WEIGHTS.iterdir())
    assert {path.stem for path in files} == set(NETWORKS)
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


def test_a_rung_keeps_the_curve_of_its_training():
    for each in read_recorded():
        if each.seed == SEED and each.rung in kept() and RUNGS[each.rung].training is not None:
            steps, losses = zip(*each.curve, strict=True)
            assert steps[-1] == RUNGS[each.rung].training.n_steps
            assert list(steps) == sorted(steps)
            assert losses[-1] < losses[0]


def test_saving_and_reading_gives_the_same_model_up_to_half_precision(tmp_path):
    tiny = SCALES["tiny"]
    small = Corpus(tiny, 0)
    _, model = climb(RUNGS["gru"], small, SCALES["default"].__class__(share_of_steps=0.001), 0, device="cpu")
    save_weights(model, "gru", tmp_path)
    again = recorded_model("gru", small, tmp_path)
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], tensor, atol=1e-3, rtol=1e-3)


def test_kinds_are_words_of_the_language_and_do_not_overlap(corpus):
    words = [word for each in kinds(corpus.language.config.lexicon).values() for word in each]
    assert len(set(words)) == len(words)
    assert all(word in corpus.language.vocabulary for word in words)


def test_the_true_model_pays_nothing_above_the_floor_at_any_kind(corpus):
    floor = token_nll(corpus.language, corpus.test)
    told = bits_by_kind(floor + 0.5, floor, corpus.test, corpus.language)
    assert told == pytest.approx(dict.fromkeys(told, 0.5 / 0.6931471805599453))
    assert set(told) == set(kinds(corpus.language.config.lexicon))
