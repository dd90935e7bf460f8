"""Attention: every query takes a weighted average of values, with weights computed from the keys.

One convention holds for every mask of the course: **True means "may be attended to"**. A mask is broadcast to
the scores, whose last two axes are always (queries, keys). A query that may attend to nothing has no weights
that sum to one, so a mask with such a row raises an error instead of giving a row of NaN.

Scores: Bahdanau, Cho and Bengio 2015 (additive), Luong, Pham and Manning 2015 (dot, bilinear),
Vaswani et al. 2017 (scaled dot product, equation 1).
"""

from __future__ import annotations

import math

import torch

from course.models.linear import linear
from course.shapes import Bool, Float, Int, Tensor


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
    """vᵀ tanh(W_query q + W_key k): an MLP with one hidden layer scores each pair."""
    from_query = linear(query, W_query).unsqueeze(-2)  # (…, queries, 1, D)
    from_key = linear(key, W_key).unsqueeze(-3)  # (…, 1, keys, D)
    return torch.tanh(from_query + from_key) @ v


def causal_mask(
    n_queries: int, n_keys: int | None = None, device: torch.device | str | None = None
) -> Bool[Tensor, "queries keys"]:
    """The lower triangle: each position may attend to itself and to all earlier ones.

    With fewer queries than keys, the queries are the last positions, as when a cache holds the earlier keys:
    2 queries, 3 keys → [[True, True, False], [True, True, True]]. Raises ValueError for fewer keys than
    queries.
    """
    n_keys = n_queries if n_keys is None else n_keys
    if n_keys < n_queries:
        raise ValueError(f"expected at least as many keys as queries, got {n_keys} keys, {n_queries} queries")
    return torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril(diagonal=n_keys - n_queries)


def padding_mask(tokens: Int[Tensor, "batch keys"], pad: int) -> Bool[Tensor, "batch 1 1 keys"]:
    """True at the real tokens: no query of any head may attend to padding. Shape (B, 1, 1, keys)."""
    return (tokens != pad)[:, None, None, :]


def check_mask(mask: Tensor, scores_shape: tuple[int, ...]) -> None:
    """Check that `mask` is boolean, broadcasts to the scores and leaves every query at least one key.

    Raises TypeError for a mask that is not boolean, ValueError for a wrong shape or a row without a key.
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"mask: expected dtype torch.bool (True = may be attended to), got {mask.dtype}")
    sizes = zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    if mask.ndim > len(scores_shape) or any(size not in (1, wanted) for size, wanted in sizes):
        raise ValueError(
            f"mask: expected a shape that broadcasts to the scores {tuple(scores_shape)} "
            f"(…, queries, keys), got {tuple(mask.shape)}"
        )
    has_key = mask.any(dim=-1)
    if not has_key.all():
        row = tuple((~has_key).nonzero()[0].tolist())
        raise ValueError(
            f"mask: expected at least one True per query, got a row without any, the first at index {row} of "
            f"a mask of shape {tuple(mask.shape)}"
        )


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
    weights = attention_weights(scores, mask)  # (…, queries, keys)
    return weights @ value, weights
