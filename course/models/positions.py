"""Positions: attention alone cannot tell "the man ate the fish" from "the fish ate the man".

Positions can be added to the embeddings: sinusoidal (Vaswani et al. 2017, section 3.5) or learned vectors. A
bias per distance can be added to the scores (Shaw et al. 2018 clip the distance; Raffel et al. 2020, "T5",
put far distances into buckets). Queries and keys can be rotated (RoFormer, Su et al. 2021), after which q · k
depends on the positions only through their distance.
"""

from __future__ import annotations

import math

import torch
from torch import nn

from course.shapes import Float, Int, Tensor


def angles(
    positions: Float[Tensor, " time"], d_model: int, base: float = 10_000.0
) -> Float[Tensor, "time pairs"]:
    """Position times base^(−2i/D) for each pair of dimensions i = 0 … ⌈D/2⌉ − 1, in radians."""
    even = torch.arange(0, d_model, 2, dtype=positions.dtype, device=positions.device)
    return positions[:, None] * base ** (-even / d_model)


def sinusoidal_positions(n_positions: int, d_model: int, first: int = 0) -> Float[Tensor, "time d_model"]:
    """sin and cos of the position, with a different wavelength for each adjacent pair (2i, 2i + 1)."""
    positions = torch.arange(first, first + n_positions, dtype=torch.float64)
    radians = angles(positions, d_model)  # (T, ⌈D/2⌉)
    pairs = torch.stack([radians.sin(), radians.cos()], dim=-1)  # (T, ⌈D/2⌉, 2)
    table = pairs.flatten(start_dim=1)[:, :d_model]  # (T, D); an odd D drops the last cos
    return table.to(torch.get_default_dtype())


def rotate(
    x: Float[Tensor, "*batch time d_head"], first: int = 0, base: float = 10_000.0
) -> Float[Tensor, "*batch time d_head"]:
    """Rotate each adjacent pair (x_2i, x_2i+1) by its position times base^(−2i/d_k) (RoFormer, equation 34).

    Positions count from `first`. Queries and keys are rotated, values not. Raises ValueError for an odd d_k.
    """
    T, d_k = x.shape[-2:]
    return rotate_pairs(x, rotation(T, d_k, first, base, x.dtype, x.device))


def rotation(
    n_positions: int,
    d_head: int,
    first: int = 0,
    base: float = 10_000.0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | None = None,
) -> Float[Tensor, "2 time pairs"]:
    """The cosines and the sines by which `rotate` turns: computed once, they serve every layer.

    Raises ValueError for an odd d_head.
    """
    if d_head % 2 != 0:
        raise ValueError(f"d_head: expected an even width, so that dimensions pair up, got {d_head}")
    precise = torch.promote_types(dtype, torch.float32)  # half precision cannot tell 1000 from 1001
    positions = torch.arange(first, first + n_positions, dtype=precise, device=device)
    radians = angles(positions, d_head, base)  # (T, d_k/2)
    return torch.stack([radians.cos(), radians.sin()]).to(dtype)  # (2, T, d_k/2)


def rotate_pairs(
    x: Float[Tensor, "*batch time d_head"], turn: Float[Tensor, "2 time pairs"]
) -> Float[Tensor, "*batch time d_head"]:
    """Rotate each adjacent pair (x_2i, x_2i+1) by cosines and sines that are given."""
    cos, sin = turn  # (T, d_k/2) each
    even, odd = x[..., 0::2], x[..., 1::2]  # (…, T, d_k/2)
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # (…, T, d_k/2, 2)
    return rotated.flatten(start_dim=-2)  # (…, T, d_k)


def distances(n_queries: int, n_keys: int, device: torch.device | None = None) -> Int[Tensor, "queries keys"]:
    """j − i for query position i and key position j; negative = the key comes before the query.

    With fewer queries than keys, the queries are the last positions, as in `causal_mask`.
    """
    i = torch.arange(n_keys - n_queries, n_keys, device=device)
    return torch.arange(n_keys, device=device) - i[:, None]


def clipped_buckets(distance: Int[Tensor, "*shape"], n_buckets: int) -> Int[Tensor, "*shape"]:
    """One bucket per distance from −R to R, N = 2R + 1; farther ones are clipped (Shaw et al. 2018)."""
    radius = (n_buckets - 1) // 2
    return distance.clamp(-radius, radius) + radius


def t5_buckets(distance: Int[Tensor, "*shape"], n_buckets: int, farthest: int = 128) -> Int[Tensor, "*shape"]:
    """Half of the buckets for each direction: one per near distance, far distances in logarithmic steps.

    Buckets 0 … N/2 − 1 hold keys at or before the query, the others keys after it (Raffel et al. 2020).
    """
    one_side = n_buckets // 2
    n_exact = one_side // 2
    size = distance.abs()
    logarithmic = (size.clamp(min=1) / n_exact).log() / math.log(farthest / n_exact) * (one_side - n_exact)
    far = (n_exact + logarithmic.long()).clamp(max=one_side - 1)
    return torch.where(size < n_exact, size, far) + one_side * (distance > 0)


class LearnedPositions(nn.Module):
    """A trained vector for each position, up to the context length."""

    def __init__(self, context_length: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(context_length, d_model)

    def forward(self, n_positions: int, first: int = 0) -> Float[Tensor, "time d_model"]:
        return self.embedding.weight[first : first + n_positions]


class SinusoidalPositions(nn.Module):
    """The fixed sines and cosines, as a buffer: without gradient, moved with the model, not saved with it."""

    table: Float[Tensor, "positions d_model"]

    def __init__(self, context_length: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal_positions(context_length, d_model), persistent=False)

    def forward(self, n_positions: int, first: int = 0) -> Float[Tensor, "time d_model"]:
        return self.table[first : first + n_positions]


class RelativeBias(nn.Module):
    """A trained number per head and distance bucket, added to the scores."""

    def __init__(self, n_heads: int, n_buckets: int = 32, is_clipped: bool = False) -> None:
        super().__init__()
        self.n_buckets = n_buckets
        self.buckets = clipped_buckets if is_clipped else t5_buckets
        self.bias = nn.Parameter(torch.zeros(n_buckets, n_heads))

    def forward(self, n_queries: int, n_keys: int) -> Float[Tensor, "heads queries keys"]:
        distance = distances(n_queries, n_keys, self.bias.device)  # (queries, keys)
        bucket = self.buckets(distance, self.n_buckets)  # (queries, keys)
        return self.bias[bucket].permute(2, 0, 1)  # (queries, keys, H) → (H, queries, keys)
