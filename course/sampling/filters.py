"""Filters that keep tokens by their probability, rank or logit; all other tokens get −∞.

Each is a pure function `logits (…, V), history (…, T) → logits (…, V)`; filters ignore the history. A filter
does not change the logits of the tokens it keeps and, except for XTC, always keeps the most probable token.
Probabilities are computed from the logits as they arrive, after earlier filters and temperatures (see
`pipeline`).
"""

from __future__ import annotations

import torch

from course.sampling.bounds import expect_count, expect_positive, expect_probability, expect_share
from course.sampling.distribution import History, Logits, keep_only, unsorted


def top_k(logits: Logits, history: History | None = None, *, k: int) -> Logits:
    """Keep the k most probable tokens, and those that tie with the last of them.

    Fan, Lewis, Dauphin 2018, "Hierarchical neural story generation".
    """
    expect_count("k", k, logits.shape[-1], "the size of the vocabulary")
    kth_best = logits.topk(k, dim=-1).values[..., -1:]
    return keep_only(logits, logits >= kth_best)


def top_p(logits: Logits, history: History | None = None, *, p: float) -> Logits:
    """Keep the smallest set of most probable tokens that holds a probability of at least p (the nucleus).

    The token with which the sum reaches p belongs to the set. Of equally probable tokens at the limit, those
    with smaller numbers come first. Holtzman et al. 2020, "The curious case of neural text degeneration".
    """
    expect_share("p", p)
    if p == 1:
        return logits
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    before = probs.cumsum(dim=-1) - probs
    rounding = 4 * torch.finfo(logits.dtype).eps  # 0.5 + 0.25 reaches p = 0.75 even when summed as 0.7499999
    return keep_only(logits, unsorted(before < p - rounding, order))


def min_p(logits: Logits, history: History | None = None, *, p: float) -> Logits:
    """Keep tokens at least p times as probable as the most probable one: P(v) ≥ p · max P.

    Nguyen et al. 2024, "Turning up the heat: min-p sampling for creative and coherent LLM outputs".
    """
    expect_share("p", p)
    probs = logits.softmax(dim=-1)
    return keep_only(logits, probs >= p * probs.amax(dim=-1, keepdim=True))


def top_a(logits: Logits, history: History | None = None, *, a: float) -> Logits:
    """Keep tokens with P(v) ≥ a · (max P)²: the more confident the model, the stricter the filter.

    Proposed with the RWKV language model (BlinkDL 2022).
    """
    expect_share("a", a)
    probs = logits.softmax(dim=-1)
    return keep_only(logits, probs >= a * probs.amax(dim=-1, keepdim=True) ** 2)


def top_n_sigma(logits: Logits, history: History | None = None, *, n: float) -> Logits:
    """Keep tokens whose logit is within n standard deviations of the largest: z ≥ max z − n·σ(z).

    Temperature divides both sides, so it does not change which tokens are kept. σ is the sample standard
    deviation of the finite logits. Tang et al. 2024, "Top-nσ: not all logits are you need".
    """
    expect_positive("n", n)
    finite = logits.isfinite()
    n_finite = finite.sum(dim=-1, keepdim=True)
    mean = logits.where(finite, 0).sum(dim=-1, keepdim=True) / n_finite
    squares = (logits - mean).where(finite, 0).square().sum(dim=-1, keepdim=True)
    sigma = (squares / (n_finite - 1).clamp(min=1)).sqrt()
    return keep_only(logits, logits >= logits.amax(dim=-1, keepdim=True) - n * sigma)


def epsilon_cutoff(logits: Logits, history: History | None = None, *, epsilon: float) -> Logits:
    """Keep tokens with P(v) ≥ ε: an absolute limit.

    Hewitt, Manning, Liang 2022, "Truncation sampling as language model desmoothing".
    """
    expect_share("epsilon", epsilon)
    return keep_only(logits, logits.softmax(dim=-1) >= epsilon)


def xtc(
    logits: Logits,
    history: History | None = None,
    *,
    threshold: float,
    probability: float,
    generator: torch.Generator,
) -> torch.Tensor:
    """Exclude top choices: with the given probability, drop all tokens with P(v) ≥ threshold except the last.

    The least probable of these viable tokens stays, so the text still makes sense but is less predictable.
    With fewer than two viable tokens nothing changes. One random number is drawn per row. P. E. Weidmann
    2024 (text-generation-webui, pull request 6335).
    """
    expect_share("threshold", threshold)
    expect_probability("probability", probability)
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    next_is_viable = torch.nn.functional.pad(probs[..., 1:] >= threshold, (0, 1))
    coin = torch.rand(logits.shape[:-1], generator=generator, device=generator.device).to(logits.device)
    dropped = unsorted(next_is_viable, order) & (coin < probability)[..., None]
    return logits.masked_fill(dropped, -torch.inf)
