"""Masks: which keys a query may attend to. The causal mask hides the future, the padding mask hides padding.

One convention holds for every mask of the course: **True means "may be attended to"**. A mask is broadcast to
the scores, whose last two axes are always (queries, keys). A query that may attend to nothing has no weights
that sum to one, so a mask with such a row raises an error instead of giving a row of NaN.
"""

from __future__ import annotations

import torch

from course.language_model import values_may_be_read
from course.shapes import Bool, Int, Tensor


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

    Raises TypeError for a mask that is not boolean, ValueError for a wrong shape or, where
    `values_may_be_read`, a row without a key.
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"mask: expected dtype torch.bool (True = may be attended to), got {mask.dtype}")
    sizes = zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    if mask.ndim > len(scores_shape) or any(size not in (1, wanted) for size, wanted in sizes):
        raise ValueError(
            f"mask: expected a shape that broadcasts to the scores {tuple(scores_shape)} "
            f"(…, queries, keys), got {tuple(mask.shape)}"
        )
    if not values_may_be_read(mask):
        return
    has_key = mask.any(dim=-1)
    if not has_key.all():
        row = tuple((~has_key).nonzero()[0].tolist())
        raise ValueError(
            f"mask: expected at least one True per query, got a row without any, the first at index {row} of "
            f"a mask of shape {tuple(mask.shape)}"
        )
