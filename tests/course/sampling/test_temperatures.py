"""Sharper and flatter distributions."""

import math
from functools import partial

import pytest
import torch
from table_model import kept, probabilities
from transformers.generation.logits_process import TemperatureLogitsWarper

from course.sampling import dynamic_temperature, quadratic, temperature, top_k


@pytest.mark.parametrize("t", [0.3, 1.0, 2.5])
def test_temperature_equals_the_processor_of_transformers(t, logits):
    history = torch.zeros(len(logits), 1, dtype=torch.long)
    assert torch.equal(temperature(logits, t=t), TemperatureLogitsWarper(t)(history, logits))


def test_temperature_raises_probabilities_to_a_power():
    probs = temperature(probabilities(0.7, 0.2, 0.1), t=0.5).softmax(-1)
    squares = torch.tensor([0.49, 0.04, 0.01], dtype=torch.float64)
    torch.testing.assert_close(probs, squares / squares.sum())


def test_temperature_zero_is_the_limit_of_small_temperatures(logits):
    cold = temperature(logits, t=1e-4).softmax(-1)
    torch.testing.assert_close(temperature(logits, t=0.0).softmax(-1), cold.round())
    assert kept(temperature(torch.tensor([[1.0, 2.0, 2.0]]), t=0.0)) == [[1]]


def test_dynamic_temperature_is_high_where_the_model_is_uncertain():
    flat, sharp = probabilities(0.25, 0.25, 0.25, 0.25), torch.tensor([0.0, -1e3, -1e3, -1e3]).double()
    step = partial(dynamic_temperature, low=0.5, high=2.0)
    torch.testing.assert_close(step(flat), flat / 2.0)
    torch.testing.assert_close(step(sharp), sharp / 0.5)


def test_dynamic_temperature_equals_its_formula(logits):
    for row, warmed in zip(logits, dynamic_temperature(logits, low=0.4, high=1.7, exponent=1.3), strict=True):
        probs = row.softmax(-1).tolist()
        entropy = -sum(p * math.log(p) for p in probs if p > 0)
        t = 0.4 + 1.3 * (entropy / math.log(23)) ** 1.3
        torch.testing.assert_close(warmed, row / t)


def test_dynamic_temperature_counts_only_tokens_that_can_occur():
    flat = top_k(torch.tensor([[2.0, 2.0, 1.0, 0.0]]), k=2)
    torch.testing.assert_close(dynamic_temperature(flat, low=0.5, high=4.0)[0, :2], flat[0, :2] / 4.0)
    single = top_k(torch.tensor([[2.0, 1.0, 0.0]]), k=1)
    torch.testing.assert_close(dynamic_temperature(single, low=0.5, high=4.0)[0, 0], single[0, 0] / 0.5)


def test_quadratic_is_a_parabola_around_the_best_logit():
    row = torch.tensor([3.0, 2.5, 1.0, -1.0], dtype=torch.float64)
    expected = [3.0, 3 - 0.4 * 0.25, 3 - 0.4 * 4.0, 3 - 0.4 * 16.0]
    assert quadratic(row, factor=0.4).tolist() == pytest.approx(expected)


def test_with_a_curve_the_cubic_term_presses_the_tail_down():
    row = torch.tensor([3.0, 1.0], dtype=torch.float64)
    assert quadratic(row, factor=0.4, curve=3.0).tolist() == pytest.approx([3.0, 3 - 0.4 * 8.0])
    assert quadratic(row, factor=0.4, curve=2.0).tolist() == pytest.approx([3.0, 3 - 0.4 * (2 + 4)])


@pytest.mark.parametrize("curve", [1.0, 1.7, 3.0])
def test_quadratic_keeps_the_ranking_and_what_was_removed(curve, logits):
    narrowed = top_k(logits, k=6)
    bent = quadratic(narrowed, factor=0.2, curve=curve)
    assert kept(bent) == kept(narrowed)
    assert torch.equal(bent.argsort(dim=-1, stable=True), narrowed.argsort(dim=-1, stable=True))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (partial(temperature, t=-0.5), r"temperature: expected a number of at least 0, got -0\.5"),
        (partial(dynamic_temperature, low=0.0, high=1.0), "low: expected a number above 0"),
        (partial(dynamic_temperature, low=1.0, high=0.5), r"high: expected at least low = 1.0, got 0\.5"),
        (partial(quadratic, factor=0.0), "factor: expected a number above 0"),
        (partial(quadratic, factor=1.0, curve=4.0), "curve: expected 1 to 3, .*; got 4.0"),
    ],
)
def test_a_setting_out_of_range_is_explained(step, message, logits):
    with pytest.raises(ValueError, match=message):
        step(logits)
