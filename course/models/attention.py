"""Attention: every query takes a weighted average of values, with weights computed from the keys.

The masks are in `masks.py`.

Scores: Bahdanau, Cho and Bengio 2015 (additive), Luong, Pham and Manning 2015 (dot, bilinear),
Vaswani et al. 2017 (scaled dot product, equation 1).
"""

from __future__ import annotations

import math

import torch

from course.models.linear import linear
from course.models.masks import check_mask
from course.shapes import Bool, Float, Tensor


def dot_scores(
    query: Float[Tensor, "*batch queries d_key"], key: Float[Tensor, "*batch keys d_key"]
) -> Float[Tensor, "*batch queries keys"]:
    """q · k for every pair of a query and a key."""
    return query @ key.transpose(-2, -1)


def bilinear_scores(
    query: Float[Tensor, "*batch queries d_query"],
    key: Float[Tensor, "*batch keys d_key"],
    W: Float[Tensor, "d_query d_key"],
) -> Float[Tensor, "*batch queries keys"]:
    """qᵀ W k: a dot product in which W decides which features match; the two widths may differ."""
    return query @ W @ key.transpose(-2, -1)


def additive_scores(
    query: Float[Tensor, "*batch queries d_query"],
    key: Float[Tensor, "*batch keys d_key"],
    W_query: Float[Tensor, "d_hidden d_query"],
    W_key: Float[Tensor, "d_hidden d_key"],
    v: Float[Tensor, " d_hidden"],
) -> Float[Tensor, "*batch queries keys"]:
    """vᵀ tanh(W_query q + W_key k): an MLP with one hidden layer, of N units, scores each pair."""
    from_query = linear(query, W_query).unsqueeze(-2)  # (…, T, 1, N)
    from_key = linear(key, W_key).unsqueeze(-3)  # (…, 1, S, N)
    return torch.tanh(from_query + from_key) @ v


def attention_weights(
    scores: Float[Tensor, "*batch queries keys"], mask: Bool[Tensor, ...] | None = None
) -> Float[Tensor, "*batch queries keys"]:
    """Softmax over the keys; a masked score is −∞ before the softmax, so its weight is exactly 0."""
    if mask is not None:
        check_mask(mask, scores.shape)
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1)


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch queries d_key"],
    key: Float[Tensor, "*batch keys d_key"],
    value: Float[Tensor, "*batch keys d_value"],
    mask: Bool[Tensor, ...] | None = None,
) -> tuple[Float[Tensor, "*batch queries d_value"], Float[Tensor, "*batch queries keys"]]:
    """softmax(QKᵀ/√d_k) V and its weights (Vaswani et al. 2017, equation 1).

    A dot product of d_k terms, independent and of variance 1, has variance d_k; dividing by √d_k makes it 1.
    """
    scores = dot_scores(query, key) / math.sqrt(query.shape[-1])
    weights = attention_weights(scores, mask)  # (…, T, S)
    return weights @ value, weights
