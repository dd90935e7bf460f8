"""Grouped-query attention: several query heads share the keys and values of one (Ainslie et al. 2023).

With as many key-value heads as query heads this is multi-head attention; with one, multi-query attention
(Shazeer 2019). The cache, which holds keys and values only, shrinks by the size of a group.
"""

from __future__ import annotations

import math

from torch import nn
from torch.nn import functional as F

from course.models.attention import attention_weights, dot_scores
from course.models.linear import Linear
from course.models.multi_head_attention import LayerCache, merge_heads, split_heads
from course.models.positions import rotate_pairs
from course.shapes import Bool, Float, Tensor


def group_queries(
    query: Float[Tensor, "batch heads queries d_head"], n_groups: int
) -> Float[Tensor, "batch groups rows d_head"]:
    """The queries of a group's heads one below another: to the keys they share, they are more queries."""
    B, H, T, d_k = query.shape
    return query.reshape(B, n_groups, H // n_groups * T, d_k)  # (B, H, T, d_k) → (B, G, H/G · T, d_k)


def ungroup_queries(
    grouped: Float[Tensor, "batch groups rows d_head"], n_queries: int
) -> Float[Tensor, "batch heads queries d_head"]:
    """The inverse of `group_queries`."""
    B, _, _, d_k = grouped.shape
    return grouped.reshape(B, -1, n_queries, d_k)  # (B, G, H/G · T, d_k) → (B, H, T, d_k)


class GroupedQueryAttention(nn.Module):
    """Self-attention with rotated queries and keys and without biases; H query heads in G groups."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int, is_fused: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model: expected a multiple of n_heads = {n_heads}, got {d_model}")
        if n_heads % n_groups != 0:
            raise ValueError(f"n_heads: expected a multiple of n_groups = {n_groups}, got {n_heads}")
        d_head = d_model // n_heads
        self.n_heads = n_heads
        self.n_groups = n_groups
        self.is_fused = is_fused
        self.W_query = Linear(d_model, d_model, bias=False)
        self.W_key = Linear(d_model, n_groups * d_head, bias=False)
        self.W_value = Linear(d_model, n_groups * d_head, bias=False)
        self.W_output = Linear(d_model, d_model, bias=False)

    def forward(
        self,
        x: Float[Tensor, "batch time d_model"],
        turn: Float[Tensor, "2 time pairs"],
        mask: Bool[Tensor, "#batch 1 time keys"] | None = None,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """Attend with every head; `turn` is the `rotation` for the positions of x.

        `mask` is True where a query may attend to a key; without one, to all. With a cache, x holds the new
        positions only, and the keys are the cached ones and the new ones.
        """
        T = x.shape[1]
        q, k, v = self._heads(x, turn, cache)  # (B, G, H/G · T, d_k), (B, G, keys, d_k) twice
        if mask is not None:
            mask = mask.repeat(1, 1, self.n_heads // self.n_groups, 1)  # (B or 1, 1, H/G · T, keys)
        if self.is_fused:
            grouped = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # (B, G, H/G · T, d_k)
        else:
            scores = dot_scores(q, k) / math.sqrt(q.shape[-1])  # (B, G, H/G · T, keys)
            grouped = attention_weights(scores, mask) @ v  # (B, G, H/G · T, d_k)
        return self.W_output(merge_heads(ungroup_queries(grouped, T)))  # (B, T, D)

    def _heads(self, x: Tensor, turn: Tensor, cache: LayerCache | None) -> tuple[Tensor, Tensor, Tensor]:
        q = rotate_pairs(split_heads(self.W_query(x), self.n_heads), turn)  # (B, H, T, d_k)
        k = rotate_pairs(split_heads(self.W_key(x), self.n_groups), turn)  # (B, G, T, d_k)
        v = split_heads(self.W_value(x), self.n_groups)  # (B, G, T, d_k)
        if cache is not None:
            k, v = cache.extend(k, v)  # (B, G, keys, d_k)
        return group_queries(q, self.n_groups), k, v
