"""Ready-made parts of homework 5: attention, heads, positions, norms and the encoder."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from course.models.attention import attention_weights as masked_weights
from course.models.layer_norm import LayerNorm
from course.models.masks import causal_mask
from course.models.multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from course.models.positions import angles, rotate

__all__ = [
    "FeedForward",
    "LayerNorm",
    "MultiHeadAttention",
    "TransformerEncoder",
    "TransformerInput",
    "causal_mask",
    "masked_weights",
    "merge_heads",
    "rms_norm",
    "rotate",
    "sinusoidal_positions",
    "split_heads",
]


def rms_norm(x: Tensor, gain: Tensor, epsilon: float) -> Tensor:
    """As in exercise 24: x (…, D), whose squares are added in float32 at least."""
    at_least = torch.promote_types(x.dtype, torch.float32)
    return gain * x * torch.rsqrt(x.to(at_least).square().mean(dim=-1, keepdim=True) + epsilon)


def sinusoidal_positions(n_positions: int, d_model: int) -> Tensor:
    """As in exercise 16, (T, D) in float64."""
    radians = angles(torch.arange(n_positions, dtype=torch.float64), d_model)  # (T, ⌈D/2⌉)
    return torch.stack([radians.sin(), radians.cos()], dim=-1).flatten(start_dim=1)[:, :d_model]


class TransformerInput(nn.Module):
    """As in exercise 18."""

    table: Tensor

    def __init__(self, vocab_size: int, table: Tensor) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, table.shape[1])
        self.register_buffer("table", table)

    def forward(self, tokens: Tensor) -> Tensor:
        return math.sqrt(self.table.shape[1]) * self.embedding(tokens) + self.table[: tokens.shape[1]]


class FeedForward(nn.Sequential):
    """As in exercise 25."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.add_module("expand", nn.Linear(d_model, d_ff))
        self.add_module("relu", nn.ReLU())
        self.add_module("contract", nn.Linear(d_ff, d_model))


class SelfAttention(MultiHeadAttention):
    """A part of exercises 26 and 27: multi-head attention of x (B, T, D) over itself."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return super().forward(x, x, x, mask)


class TwoLayers(FeedForward):
    """A part of exercises 26 and 27: the feed-forward layer."""


class Block(nn.Module):
    """As in exercise 26."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.attention, self.norm_attention = SelfAttention(d_model, n_heads), nn.LayerNorm(d_model)
        self.feed_forward, self.norm_feed_forward = TwoLayers(d_model, d_ff), nn.LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


class TransformerEncoder(nn.Module):
    """As in exercise 30."""

    def __init__(self, n_layers: int, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return x
