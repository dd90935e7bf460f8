"""Filters that depend on the whole distribution: how uncertain it is, and where it flattens out.

The same form as in `filters`: `logits (…, V), history (…, T) → logits (…, V)`, tokens not kept get −∞.
Entropies are in nats.
"""

from __future__ import annotations

import math

import torch

from course.sampling.bounds import expect_share
from course.sampling.distribution import History, Logits, entropy, keep_only, unsorted


def eta_cutoff(logits: Logits, history: History | None = None, *, epsilon: float) -> Logits:
    """Keep tokens with P(v) ≥ η = min(ε, √ε · e^(−H)): the more uncertain the model, the more lenient.

    Hewitt, Manning, Liang 2022, "Truncation sampling as language model desmoothing".
    """
    expect_share("epsilon", epsilon)
    eta = (math.sqrt(epsilon) * torch.exp(-entropy(logits))).clamp(max=epsilon)
    return keep_only(logits, logits.softmax(dim=-1) >= eta[..., None])


def locally_typical(logits: Logits, history: History | None = None, *, mass: float) -> Logits:
    """Keep the tokens whose surprise −log P is closest to the entropy, until they hold `mass`.

    The most probable token can be too predictable to be typical; it is kept in any case. Tokens that tie
    with the last one are kept too. Meister et al. 2023, "Locally typical sampling".
    """
    expect_share("mass", mass)
    if mass == 1:
        return logits
    log_probs = logits.log_softmax(dim=-1)
    distance = (-log_probs - entropy(logits)[..., None]).abs()
    distance_sorted, order = distance.sort(dim=-1, stable=True)
    reached = log_probs.exp().gather(-1, order).cumsum(dim=-1)
    last = (reached < mass).sum(dim=-1, keepdim=True).clamp(max=logits.shape[-1] - 1)
    return keep_only(logits, distance <= distance_sorted.gather(-1, last))


def tail_free(logits: Logits, history: History | None = None, *, z: float) -> Logits:
    """Cut the tail where the sorted probabilities stop bending.

    The absolute second differences of the sorted probabilities are divided by their sum and added up from
    the top; a token is kept while this sum is at most z. The first token is always kept, the last one never
    (differences are centred). Phénix, Egan 2019, "Tail free sampling".
    """
    expect_share("z", z)
    if z == 1 or logits.shape[-1] < 3:
        return logits
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    bend = probs.diff(dim=-1).diff(dim=-1).abs()  # (…, V − 2), one for each token but the first and the last
    total = bend.sum(dim=-1, keepdim=True)
    share = (bend / total).cumsum(dim=-1)
    keep = torch.nn.functional.pad(share <= z, (1, 1))
    return torch.where(total > 0, keep_only(logits, unsorted(keep, order)), logits)


def top_h(logits: Logits, history: History | None = None, *, h: float) -> Logits:
    """Keep the most probable tokens while their contribution −Σ P log P to the entropy is at most h·H.

    Potraghloo et al. 2025, "Top-H decoding".
    """
    expect_share("h", h)
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    part = torch.special.entr(probs).cumsum(dim=-1)
    return keep_only(logits, unsorted(part <= h * entropy(logits)[..., None], order))
