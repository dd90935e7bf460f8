"""The samplers of homework 6 and those of the package leave the same distribution."""

from pathlib import Path

import pytest
import torch

from autograder.source.homework import references
from autograder.source.loading import load
from course import sampling

ROOT = Path(__file__).parents[1]
LOGITS = 1.5 * torch.randn(6, 30, generator=torch.Generator().manual_seed(8), dtype=torch.float64)
HISTORY = torch.randint(5, (6, 24), generator=torch.Generator().manual_seed(9))  # five tokens that repeat


@pytest.fixture(scope="module")
def homework():
    return references(load(ROOT / "solutions/hw6_gpt"))


def assert_same_distribution(one, other):
    torch.testing.assert_close(one.softmax(-1), other.softmax(-1))


def xtc(logits, *, threshold):
    return sampling.xtc(logits, threshold=threshold, probability=1.0, generator=torch.Generator())


@pytest.mark.parametrize(
    ("exercise", "rule", "settings", "theirs"),
    [
        ("limited", "epsilon", {"epsilon": 0.04}, sampling.epsilon_cutoff),
        ("limited", "eta", {"epsilon": 0.04}, sampling.eta_cutoff),
        ("limited", "top-a", {"a": 0.6}, sampling.top_a),
        ("limited", "top-n-sigma", {"n": 1.3}, sampling.top_n_sigma),
        ("cut_by_curve", "typical", {"mass": 0.7}, sampling.locally_typical),
        ("cut_by_curve", "tail-free", {"z": 0.9}, sampling.tail_free),
        ("cut_by_curve", "xtc", {"threshold": 0.05}, xtc),
        ("bent", "quadratic", {"factor": 0.4, "curve": 1.5}, sampling.quadratic),
        ("bent", "dynamic", {"low": 0.3, "high": 1.4}, sampling.dynamic_temperature),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_sampler_is_the_packages(homework, exercise, rule, settings, theirs):
    ours = homework[exercise](LOGITS, rule, *settings.values())
    assert not torch.allclose(ours.softmax(-1), LOGITS.softmax(-1))
    assert_same_distribution(ours, theirs(LOGITS, **settings))


@pytest.mark.parametrize(
    ("presence", "frequency", "dry", "ngram", "theirs"),
    [
        (0.7, 0.0, 0.0, 0, lambda z: sampling.presence_penalty(z, HISTORY, penalty=0.7)),
        (0.0, 0.4, 0.0, 0, lambda z: sampling.frequency_penalty(z, HISTORY, penalty=0.4)),
        (0.0, 0.0, 0.8, 0, lambda z: sampling.dry(z, HISTORY, multiplier=0.8)),
        (0.0, 0.0, 0.0, 3, lambda z: sampling.no_repeat_ngram(z, HISTORY, n=3)),
    ],
    ids=["presence", "frequency", "dry", "ngram"],
)
def test_a_penalty_is_the_packages(homework, presence, frequency, dry, ngram, theirs):
    ours = homework["unrepeated"](LOGITS, HISTORY, presence, frequency, dry, ngram)
    assert not torch.allclose(ours, LOGITS)
    assert_same_distribution(ours, theirs(LOGITS))
