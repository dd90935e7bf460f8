"""Multi-head attention: several attentions in parallel, each in its own share of the dimensions.

Vaswani et al. 2017, section 3.2.2: head_h = attention(x W_query, y W_key, z W_value), and W_output mixes the
concatenated heads. With `is_fused=True`, PyTorch's kernel computes the same without storing the weights.

Drawn by `figures.machine("queries_keys_values")` and `figures.machine("heads")`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from course.kernels import faster_by
from course.kernels.one_product import heads_in_one_product
from course.models.attention import attention_weights, dot_scores
from course.models.linear import Linear
from course.models.masks import causal_mask, check_mask
from course.models.positions import RelativeBias, rotate
from course.shapes import Bool, Float, Tensor

Queries = Float[Tensor, "batch heads queries d_head"]
Keys = Float[Tensor, "batch heads keys d_head"]


def split_heads(
    x: Float[Tensor, "batch time d_model"], n_heads: int
) -> Float[Tensor, "batch heads time d_head"]:
    """Split the last axis into heads and move the head axis before time, so each head attends by itself."""
    B, T, D = x.shape
    H, d_k = n_heads, D // n_heads
    return x.view(B, T, H, d_k).transpose(1, 2)  # (B, T, D) → (B, T, H, d_k) → (B, H, T, d_k)


def merge_heads(x: Float[Tensor, "batch heads time d_head"]) -> Float[Tensor, "batch time d_model"]:
    """Concatenate the heads' outputs: the inverse of `split_heads`."""
    return x.transpose(1, 2).flatten(start_dim=2)  # (B, H, T, d_k) → (B, T, H, d_k) → (B, T, D)


def is_self_attention_on_gpu(layer: MultiHeadAttention, query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether one product does what the three do: they read one input on a GPU, and none was replaced."""
    maps = (layer.W_query, layer.W_key, layer.W_value)
    are_plain = all(type(each) is Linear and each.bias is not None for each in maps)
    return are_plain and query.is_cuda and query is key and key is value


@dataclass
class LayerCache:
    """The keys and values that one layer has computed so far; each step appends its own."""

    key: Keys | None = None
    value: Keys | None = None

    @property
    def length(self) -> int:
        """How many positions are cached."""
        return 0 if self.key is None else self.key.shape[2]

    def extend(
        self, key: Float[Tensor, "batch heads new d_head"], value: Float[Tensor, "batch heads new d_head"]
    ) -> tuple[Keys, Keys]:
        """Append along time, and return all cached keys and values."""
        if self.key is not None and self.value is not None:
            key, value = torch.cat([self.key, key], dim=2), torch.cat([self.value, value], dim=2)
        self.key, self.value = key, value
        return key, value

    def select(self, rows: Tensor) -> LayerCache:
        """A separate cache for the chosen batch rows; beam search may choose a row several times."""
        if self.key is None or self.value is None:
            return LayerCache()
        return LayerCache(self.key[rows], self.value[rows])


class MultiHeadAttention(nn.Module):
    """Queries from one sequence attend to keys and values of another, or of the same, with H heads."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        dropout: float = 0.0,
        is_fused: bool = True,
        has_rotation: bool = False,
        position_bias: RelativeBias | None = None,
    ) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model: expected a multiple of n_heads = {n_heads}, got {d_model}")
        self.n_heads = n_heads
        self.dropout = dropout
        self.is_fused = is_fused
        self.has_rotation = has_rotation
        self.position_bias = position_bias
        self.W_query = Linear(d_model, d_model)
        self.W_key = Linear(d_model, d_model)
        self.W_value = Linear(d_model, d_model)
        self.W_output = Linear(d_model, d_model)

    def forward(
        self,
        query: Float[Tensor, "batch queries d_model"],
        key: Float[Tensor, "batch keys d_model"],
        value: Float[Tensor, "batch keys d_model"],
        mask: Bool[Tensor, ...] | None = None,
        is_causal: bool = False,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch queries d_model"]:
        """Attend with every head; `mask` is broadcast to (B, H, queries, keys), True = may be attended to.

        With a cache, `key` and `value` are the new positions only. Raises as `check_mask` does.
        """
        q, k, v = self._heads(query, key, value, cache)
        if self.is_fused:
            return self.W_output(merge_heads(self._fused(q, k, v, mask, is_causal)))
        whole_mask = self._whole_mask(q, k, mask, is_causal)
        weights = attention_weights(self._scores(q, k), whole_mask)  # (B, H, queries, keys)
        heads = F.dropout(weights, self.dropout, self.training) @ v  # (B, H, queries, d_k)
        return self.W_output(merge_heads(heads))  # (B, queries, D)

    def weights(
        self,
        query: Float[Tensor, "batch queries d_model"],
        key: Float[Tensor, "batch keys d_model"],
        value: Float[Tensor, "batch keys d_model"],
        mask: Bool[Tensor, ...] | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch heads queries keys"]:
        """The attention weights of each head, for the same arguments as a call; for pictures."""
        q, k, _ = self._heads(query, key, value, None)
        return attention_weights(self._scores(q, k), self._whole_mask(q, k, mask, is_causal))

    def _heads(
        self, query: Tensor, key: Tensor, value: Tensor, cache: LayerCache | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = self._projected(query, key, value)
        if self.has_rotation:
            first = 0 if cache is None else cache.length
            q, k = rotate(q, first), rotate(k, first)
        return (q, k, v) if cache is None else (q, *cache.extend(k, v))

    @faster_by(heads_in_one_product, where=is_self_attention_on_gpu)
    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q = split_heads(self.W_query(query), self.n_heads)  # (B, H, queries, d_k)
        k = split_heads(self.W_key(key), self.n_heads)  # (B, H, keys, d_k)
        v = split_heads(self.W_value(value), self.n_heads)  # (B, H, keys, d_k)
        return q, k, v

    def _scores(self, q: Queries, k: Keys) -> Float[Tensor, "batch heads queries keys"]:
        scores = dot_scores(q, k) / math.sqrt(q.shape[-1])
        return scores if self.position_bias is None else scores + self.position_bias(q.shape[2], k.shape[2])

    def _whole_mask(self, q: Queries, k: Keys, mask: Tensor | None, is_causal: bool) -> Tensor | None:
        # a query at the last position sees every key: one step with a cache needs no triangle
        if not is_causal or q.shape[2] == 1:
            return mask
        triangle = causal_mask(q.shape[2], k.shape[2], device=q.device)
        return triangle if mask is None else mask & triangle

    def _fused(self, q: Queries, k: Keys, v: Keys, mask: Tensor | None, is_causal: bool) -> Queries:
        dropout = self.dropout if self.training else 0.0
        if mask is None and self.position_bias is None and is_causal and q.shape[2] == k.shape[2]:
            return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        added = mask = self._whole_mask(q, k, mask, is_causal)
        if mask is not None:
            check_mask(mask, (*q.shape[:3], k.shape[2]))
        if self.position_bias is not None:
            bias = self.position_bias(q.shape[2], k.shape[2])
            added = bias if mask is None else bias.masked_fill(~mask, -math.inf)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=added, dropout_p=dropout)
