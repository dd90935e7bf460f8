"""Samplers in a row."""

from functools import partial

import pytest
import torch
from table_model import kept, probabilities

from course.sampling import (
    Pipeline,
    min_p,
    presence_penalty,
    temperature,
    top_k,
    top_p,
    xtc,
)

WARM = partial(temperature, t=2.0)
FILTER = partial(min_p, p=0.3)


def test_steps_are_applied_from_the_first_to_the_last(logits):
    history = torch.zeros(7, 4, dtype=torch.long)
    steps = [partial(presence_penalty, penalty=1.0), partial(top_k, k=9), WARM]
    expected = temperature(top_k(presence_penalty(logits, history, penalty=1.0), k=9), t=2.0)
    assert torch.equal(Pipeline(steps)(logits, history), expected)
    assert torch.equal(Pipeline()(logits, history), logits)


def test_a_temperature_before_the_filter_lets_more_tokens_through():
    row = probabilities(0.6, 0.15, 0.15, 0.1)[None]
    assert kept(Pipeline([WARM, FILTER])(row)) == [[0, 1, 2, 3]]
    assert kept(Pipeline([FILTER, WARM])(row)) == [[0]]


def test_a_penalty_after_the_filter_cannot_bring_a_token_back():
    row, history = probabilities(0.5, 0.3, 0.2)[None], torch.tensor([[0, 1]])
    penalty = partial(presence_penalty, penalty=2.0)
    assert kept(Pipeline([penalty, partial(top_k, k=1)])(row, history)) == [[2]]
    assert kept(Pipeline([partial(top_k, k=1), penalty])(row, history)) == [[0]]


def test_the_report_says_what_each_step_removed():
    row = probabilities(0.5, 0.25, 0.125, 0.125)
    first, second = Pipeline([partial(top_p, p=0.8), partial(top_k, k=1)]).report(row)
    assert (first.name, first.removed, first.n_kept) == ("top_p", (3,), 3)
    assert first.removed_mass == pytest.approx(0.125)
    assert first.entropy_before == pytest.approx(1.75)
    assert (second.name, second.removed, second.n_kept) == ("top_k", (1, 2), 1)
    assert second.removed_mass == pytest.approx(0.375 / 0.875)
    assert second.entropy_after == pytest.approx(0.0)
    assert str(second) == "top_k: removed 2 (42.9%), kept 1, entropy 1.38 → 0.00 bits"


def test_a_step_that_removes_nothing_reports_only_the_change_of_entropy():
    (report,) = Pipeline([WARM]).report(probabilities(0.9, 0.1))
    assert (report.removed, report.removed_mass, report.n_kept) == ((), 0.0, 2)
    assert report.entropy_after > report.entropy_before


def test_the_report_of_a_random_step_is_that_of_its_draw():
    step = partial(xtc, threshold=0.2, probability=1.0, generator=torch.Generator().manual_seed(0))
    (report,) = Pipeline([step]).report(probabilities(0.6, 0.3, 0.1))
    assert report.removed == (0,)
