"""Mirostat, against plain loops over the paper's formulas, and as a controller."""

import math
from functools import partial

import pytest
import torch
from table_model import TableModel, kept, probabilities

from course.sampling import Mirostat, at_most_surprise, first_mu, generate, next_mu, zipf_top_k
from course.sampling.mirostat import zipf_exponent


def zipf(s: float, vocab_size: int) -> torch.Tensor:
    return -s * torch.arange(1, vocab_size + 1, dtype=torch.float64).log()


def test_the_surprise_is_in_bits_and_starts_at_twice_the_target():
    row = probabilities(0.5, 0.25, 0.125, 0.125)[None]
    assert first_mu(1.5, 2).tolist() == [3.0, 3.0]
    assert kept(at_most_surprise(row, mu=torch.tensor([2.0]))) == [[0, 1]]
    assert kept(at_most_surprise(row, mu=torch.tensor([2.9]))) == [[0, 1]]
    assert kept(at_most_surprise(row, mu=torch.tensor([3.0]))) == [[0, 1, 2, 3]]


def test_a_negative_allowance_still_leaves_the_best_token():
    assert kept(at_most_surprise(probabilities(0.3, 0.7)[None], mu=torch.tensor([-1.0]))) == [[1]]


def test_a_surprising_token_lowers_the_allowance_and_a_dull_one_raises_it():
    row = probabilities(0.5, 0.25, 0.125, 0.125).expand(2, 4)
    mu = next_mu(torch.tensor([3.0, 3.0]), row, torch.tensor([3, 0]), target=2.0, learning_rate=0.1)
    assert mu.tolist() == pytest.approx([3.0 - 0.1 * (3 - 2), 3.0 - 0.1 * (1 - 2)])


@pytest.mark.parametrize("s", [0.6, 1.0, 1.4])
def test_the_exponent_of_a_zipf_law_is_recovered(s):
    assert zipf_exponent(zipf(s, 500)).item() == pytest.approx(s)


def test_the_exponent_equals_a_loop_over_equation_30(logits):
    for row, estimate in zip(logits, zipf_exponent(logits, n_top=9).tolist(), strict=True):
        probs = sorted(row.softmax(-1).tolist(), reverse=True)
        t = [math.log((i + 1) / i) for i in range(1, 9)]
        b = [math.log(probs[i - 1] / probs[i]) for i in range(1, 9)]
        products = [x * y for x, y in zip(t, b, strict=True)]
        assert estimate == pytest.approx(sum(products) / sum(x * x for x in t))


@pytest.mark.parametrize(("s", "mu"), [(1.3, 4.0), (0.7, 6.5), (1.1, 5.2)])
def test_version_1_keeps_the_number_of_tokens_of_algorithm_1(s, mu):
    excess = s - 1
    k = ((excess * 2**mu) / (1 - 800 ** (-excess))) ** (1 / s)
    logits = zipf(s, 800).flip(-1)[None]
    assert 2 < k < 800
    assert kept(zipf_top_k(logits, mu=torch.tensor([mu]))) == [list(range(800 - int(k), 800))]


def test_version_1_is_defined_where_the_formula_is_not():
    flat, harmonic = torch.zeros(1, 50).double(), zipf(1.0, 50)[None]
    assert kept(zipf_top_k(flat, mu=torch.tensor([9.0]))) == [list(range(50))]
    k = math.floor(2**3.0 / math.log(50))
    assert len(kept(zipf_top_k(harmonic, mu=torch.tensor([3.0])))[0]) == k
    assert kept(zipf_top_k(harmonic, mu=torch.tensor([-5.0]))) == [[0]]


@pytest.mark.parametrize("truncate", [at_most_surprise, zipf_top_k])
def test_the_mean_surprise_settles_at_the_target(truncate):
    """The updates telescope: Σ(surprise − τ) = (μ₀ − μ_n)/η, so the mean is exact up to the last μ."""
    model, n_tokens, target = TableModel(40, seed=0, sharpness=1.5), 1500, 2.2
    choose = Mirostat(target, torch.Generator().manual_seed(1), truncate=truncate, learning_rate=0.2)
    text = generate(model, torch.zeros(2, 1, dtype=torch.long), n_tokens, choose)
    log_probs = model(text)[:, :-1].gather(-1, text[:, 1:, None])[..., 0]
    surprise = -log_probs / math.log(2)
    telescoped = (2 * target - choose.mu) / 0.2 / n_tokens
    torch.testing.assert_close(surprise.mean(1), telescoped + target, atol=1e-9, rtol=0)
    assert (surprise.mean(1) - target).abs().max() < 0.05


def test_the_allowance_is_kept_between_tokens():
    choose = Mirostat(1.0, torch.Generator().manual_seed(0))
    seen = []
    for _ in range(3):
        choose(probabilities(0.9, 0.1)[None])
        seen.append(choose.mu.item())
    dull = 0.1 * (1.0 + math.log2(0.9))
    assert seen == pytest.approx([2.0 + dull, 2.0 + 2 * dull, 2.0 + 3 * dull])


@pytest.mark.parametrize(
    "call",
    [
        partial(first_mu, 0.0, 1),
        partial(next_mu, torch.zeros(1), torch.zeros(1, 2), torch.zeros(1, dtype=torch.long), target=-1.0),
    ],
)
def test_a_target_that_is_no_surprise_is_explained(call):
    with pytest.raises(ValueError, match="target: expected a number above 0"):
        call()
