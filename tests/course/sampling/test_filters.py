"""Filters by probability, rank and logit: against `transformers`, by hand, and against loops."""

import statistics
from functools import partial
from itertools import pairwise

import pytest
import torch
from table_model import draws_needed_within, kept, probabilities
from transformers.generation import logits_process as library

from course.sampling import (
    epsilon_cutoff,
    eta_cutoff,
    locally_typical,
    min_p,
    tail_free,
    top_a,
    top_h,
    top_k,
    top_n_sigma,
    top_p,
    xtc,
)

FILTERS = [
    *(partial(top_k, k=k) for k in (1, 5, 23)),
    *(partial(top_p, p=p) for p in (0.01, 0.6, 0.95, 1.0)),
    *(partial(min_p, p=p) for p in (0.01, 0.3, 1.0)),
    *(partial(top_a, a=a) for a in (0.05, 0.5)),
    *(partial(top_n_sigma, n=n) for n in (0.5, 1.5)),
    *(partial(epsilon_cutoff, epsilon=e) for e in (0.001, 0.1, 1.0)),
    *(partial(eta_cutoff, epsilon=e) for e in (0.001, 0.1)),
    *(partial(locally_typical, mass=m) for m in (0.1, 0.5, 0.95)),
    *(partial(tail_free, z=z) for z in (0.1, 0.5, 0.97)),
    *(partial(top_h, h=h) for h in (0.1, 0.4, 0.9)),
]
LIBRARY = [
    *((partial(top_k, k=k), library.TopKLogitsWarper(k)) for k in (1, 5, 23)),
    *((partial(top_p, p=p), library.TopPLogitsWarper(p)) for p in (0.01, 0.6, 0.95, 0.999)),
    *((partial(min_p, p=p), library.MinPLogitsWarper(p)) for p in (0.01, 0.3, 1.0)),
    *((partial(epsilon_cutoff, epsilon=e), library.EpsilonLogitsWarper(e)) for e in (0.001, 0.1, 0.9)),
    *((partial(eta_cutoff, epsilon=e), library.EtaLogitsWarper(e)) for e in (0.001, 0.1, 0.9)),
    *((partial(locally_typical, mass=m), library.TypicalLogitsWarper(m)) for m in (0.1, 0.2, 0.5, 0.95)),
    *((partial(top_h, h=h), library.TopHLogitsWarper(h)) for h in (0.1, 0.4, 0.9)),
]


COIN = torch.Generator()


def name(step) -> str:
    return getattr(step, "func", type(step)).__name__


@pytest.mark.parametrize(("ours", "theirs"), LIBRARY, ids=lambda step: name(step))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_filter_equals_the_processor_of_transformers(ours, theirs, dtype, logits):
    logits = logits.to(dtype)
    expected = theirs(torch.zeros(len(logits), 1, dtype=torch.long), logits.clone())
    if name(ours) == "locally_typical":  # ours always keeps the most probable token, the library need not
        expected = expected.scatter(-1, logits.argmax(-1, keepdim=True), logits.amax(-1, keepdim=True))
    assert torch.equal(ours(logits), expected)


@pytest.mark.parametrize("step", FILTERS, ids=name)
def test_a_filter_keeps_logits_or_removes_them_and_keeps_the_best(step, logits):
    filtered = step(logits)
    assert torch.equal(filtered[filtered.isfinite()], logits[filtered.isfinite()])
    assert torch.equal(filtered.argmax(-1), logits.argmax(-1))


@pytest.mark.parametrize("step", FILTERS, ids=name)
def test_rows_do_not_influence_each_other_and_axes_before_are_free(step, logits):
    together = step(logits[:6].reshape(2, 3, 23)).reshape(6, 23)
    assert torch.equal(together, torch.stack([step(row) for row in logits[:6]]))


@pytest.mark.parametrize("step", FILTERS, ids=name)
def test_the_order_of_the_vocabulary_does_not_matter(step, logits):
    order = torch.randperm(23, generator=torch.Generator().manual_seed(2))
    assert torch.equal(step(logits[:, order]), step(logits)[:, order])


@pytest.mark.parametrize("step", FILTERS, ids=name)
def test_a_constant_added_to_the_logits_changes_nobody_kept(step, logits):
    assert kept(step(logits + 3)) == kept(step(logits))


@pytest.mark.parametrize("step", FILTERS, ids=name)
def test_the_input_is_not_changed(step, logits):
    before = logits.clone()
    step(logits)
    assert torch.equal(logits, before)


@pytest.mark.parametrize("step", FILTERS, ids=name)
def test_a_filter_may_follow_another_filter(step, logits):
    narrowed = top_k(logits, k=4)
    for before, after in zip(kept(narrowed), kept(step(narrowed)), strict=True):
        assert set(after) <= set(before)


def test_top_k_keeps_ties_at_rank_k():
    assert kept(top_k(torch.tensor([[1.0, 3.0, 2.0, 2.0]]), k=2)) == [[1, 2, 3]]


NUCLEI = [(0.3, [1]), (0.5, [1]), (0.51, [1, 3]), (0.75, [1, 3]), (0.76, [0, 1, 3]), (1.0, [0, 1, 2, 3])]


@pytest.mark.parametrize(("p", "tokens"), NUCLEI)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_nucleus_includes_the_token_that_reaches_p_and_no_other(p, tokens, dtype):
    assert kept(top_p(probabilities(0.2, 0.5, 0.05, 0.25).to(dtype)[None], p=p)) == [tokens]


def test_min_p_is_relative_to_the_most_probable_token():
    row = probabilities(0.4, 0.3, 0.19, 0.11)[None]
    assert kept(min_p(row, p=0.5)) == [[0, 1]]
    assert kept(min_p(row, p=0.25)) == [[0, 1, 2, 3]]


def test_top_a_compares_with_the_square_of_the_largest_probability():
    row = probabilities(0.6, 0.25, 0.1, 0.05)[None]
    assert kept(top_a(row, a=0.3)) == [[0, 1]]  # 0.3 · 0.36 = 0.108
    assert kept(top_a(row, a=0.2)) == [[0, 1, 2]]  # 0.072


def test_top_n_sigma_equals_a_loop_and_is_blind_to_temperature(logits):
    for row, tokens in zip(logits.tolist(), kept(top_n_sigma(logits, n=1.2)), strict=True):
        limit = max(row) - 1.2 * statistics.stdev(row)
        assert tokens == [token for token, logit in enumerate(row) if logit >= limit]
    assert kept(top_n_sigma(logits / 3, n=1.2)) == kept(top_n_sigma(logits, n=1.2))


def test_top_n_sigma_leaves_out_tokens_removed_before(logits):
    narrowed = top_k(logits, k=5)
    for row, tokens in zip(narrowed.tolist(), kept(top_n_sigma(narrowed, n=1.0)), strict=True):
        finite = [logit for logit in row if logit > -float("inf")]
        limit = max(finite) - statistics.stdev(finite)
        assert tokens == [token for token, logit in enumerate(row) if logit >= limit]


def test_tail_free_equals_a_loop(logits):
    for row, tokens in zip(logits, kept(tail_free(logits, z=0.8)), strict=True):
        probs = row.softmax(-1).tolist()
        order = sorted(range(23), key=lambda token: -probs[token])
        slope = [probs[a] - probs[b] for a, b in pairwise(order)]
        bend = [abs(a - b) for a, b in pairwise(slope)]
        total, reached, expected = sum(bend), 0.0, [order[0]]
        for token, change in zip(order[1:], bend, strict=False):
            reached += change / total
            if reached <= 0.8:
                expected.append(token)
        assert tokens == sorted(expected)


def test_tail_free_leaves_a_flat_distribution_alone():
    assert kept(tail_free(torch.zeros(1, 5), z=0.5)) == [[0, 1, 2, 3, 4]]


def test_typical_sampling_equals_a_loop(logits):
    for row, tokens in zip(logits, kept(locally_typical(logits, mass=0.4)), strict=True):
        log_probs = row.log_softmax(-1)
        entropy = -(log_probs.exp() * log_probs).sum()
        expected, reached = {int(row.argmax())}, 0.0
        for token in (log_probs + entropy).abs().argsort().tolist():
            if reached < 0.4:
                expected.add(token)
            reached += log_probs[token].exp().item()
        assert tokens == sorted(expected)


def test_xtc_drops_the_viable_tokens_but_the_least_probable():
    row = probabilities(0.05, 0.4, 0.15, 0.3, 0.1)[None]
    always = partial(xtc, probability=1.0, generator=torch.Generator())
    assert kept(always(row, threshold=0.1)) == [[0, 4]]
    assert kept(always(row, threshold=0.2)) == [[0, 2, 3, 4]]
    assert kept(always(row, threshold=0.35)) == [[0, 1, 2, 3, 4]]


def test_xtc_throws_one_coin_per_row_with_the_stated_probability():
    n_rows = draws_needed_within(0.03, n_outcomes=1)
    rows = probabilities(0.6, 0.4).expand(n_rows, 2)
    dropped = xtc(rows, threshold=0.3, probability=0.35, generator=torch.Generator().manual_seed(0))
    assert abs(float(dropped[:, 0].isinf().double().mean()) - 0.35) < 0.03
    assert dropped[:, 1].isfinite().all()


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (partial(top_k, k=0), "k: expected 1 to 23, the size of the vocabulary; got 0"),
        (partial(top_k, k=24), "k: expected 1 to 23, the size of the vocabulary; got 24"),
        (partial(top_p, p=0.0), r"p: expected a number in \(0, 1\], got 0.0"),
        (partial(top_p, p=1.1), r"p: expected a number in \(0, 1\], got 1.1"),
        (partial(min_p, p=-0.1), r"p: expected a number in \(0, 1\], got -0.1"),
        (partial(top_a, a=0.0), r"a: expected a number in \(0, 1\]"),
        (partial(top_n_sigma, n=0.0), "n: expected a number above 0, got 0.0"),
        (partial(epsilon_cutoff, epsilon=2.0), r"epsilon: expected a number in \(0, 1\]"),
        (partial(eta_cutoff, epsilon=0.0), r"epsilon: expected a number in \(0, 1\]"),
        (partial(locally_typical, mass=float("nan")), r"mass: expected a number in \(0, 1\], got nan"),
        (partial(tail_free, z=-1.0), r"z: expected a number in \(0, 1\]"),
        (partial(top_h, h=0.0), r"h: expected a number in \(0, 1\]"),
        (
            partial(xtc, threshold=0.0, probability=1.0, generator=COIN),
            "threshold: expected a number in",
        ),
        (partial(xtc, threshold=0.1, probability=2.0, generator=COIN), "probability: expected a probability"),
    ],
)
def test_a_setting_out_of_range_is_explained(step, message, logits):
    with pytest.raises(ValueError, match=message):
        step(logits)


def test_a_fraction_of_a_token_is_no_rank(logits, as_students_run_it):
    with pytest.raises(TypeError, match=r"k: expected a whole number, got 2\.5"):
        top_k(logits, k=2.5)
