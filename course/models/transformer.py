"""The Transformer (Vaswani et al. 2017): a stack of layers of attention, feed-forward, residuals and norms.

An encoder layer reads one sequence; a decoder layer also attends to the encoder's output (`memory`).
Post-norm is the paper's order, norm(x + f(x)). Pre-norm, x + f(norm(x)), trains more easily and needs one
last norm.

`figures.machine("block")` draws one layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from torch import nn
from torch.nn import functional as F

from course.models.layer_norm import LayerNorm
from course.models.linear import Linear
from course.models.multi_head_attention import LayerCache, MultiHeadAttention
from course.models.positions import RelativeBias
from course.shapes import Bool, Float, Tensor

Activation = Literal["relu", "gelu", "gelu_tanh"]
ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
}


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of a stack of Transformer layers, and the choices that all its layers share."""

    d_model: int = 512
    n_heads: int = 8
    n_layers: int = 6
    d_ff: int = 2048
    dropout: float = 0.0
    activation: Activation = "relu"
    is_pre_norm: bool = False
    epsilon: float = 1e-5
    has_rotation: bool = False  # rotary positions in self-attention
    is_fused: bool = True  # PyTorch's kernels for attention and norm; False: the course's own lines

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"activation: expected one of {', '.join(ACTIVATIONS)}, got {self.activation!r}")
        if self.d_model % self.n_heads != 0:
            raise ValueError(f"d_model: expected a multiple of n_heads = {self.n_heads}, got {self.d_model}")

    def norm(self) -> LayerNorm:
        """A new layer norm of this width."""
        return LayerNorm(self.d_model, self.epsilon, self.is_fused)

    def self_attention(self, position_bias: RelativeBias | None = None) -> MultiHeadAttention:
        """A new self-attention."""
        return MultiHeadAttention(
            self.d_model, self.n_heads, self.dropout, self.is_fused, self.has_rotation, position_bias
        )

    def cross_attention(self) -> MultiHeadAttention:
        """A new attention over another sequence; no rotation or bias: positions are not comparable."""
        return MultiHeadAttention(self.d_model, self.n_heads, self.dropout, self.is_fused)


class FeedForward(nn.Module):
    """Two linear maps with a nonlinearity between them, applied to each position independently."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.expand = Linear(config.d_model, config.d_ff)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = nn.Dropout(config.dropout)
        self.contract = Linear(config.d_ff, config.d_model)

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        hidden = self.activation(self.expand(x))  # (B, T, F)
        return self.contract(self.dropout(hidden))  # (B, T, D)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward layer; with `is_causal`, this is the block of a GPT."""

    def __init__(self, config: TransformerConfig, position_bias: RelativeBias | None = None) -> None:
        super().__init__()
        self.is_pre_norm = config.is_pre_norm
        self.attention = config.self_attention(position_bias)
        self.feed_forward = FeedForward(config)
        self.norm_attention = config.norm()
        self.norm_feed_forward = config.norm()
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch time d_model"],
        mask: Bool[Tensor, ...] | None = None,
        is_causal: bool = False,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """One layer; `mask` is broadcast to (B, H, T, T), True = may be attended to."""

        def attend(x: Tensor) -> Tensor:
            return self.dropout(self.attention(x, x, x, mask, is_causal, cache))

        if self.is_pre_norm:
            x = x + attend(self.norm_attention(x))
            return x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(x + attend(x))
        return self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))


@dataclass
class DecoderLayerCache:
    """The keys and values that a decoder layer has computed: of the words written, and of the memory."""

    written: LayerCache = field(default_factory=LayerCache)
    memory: LayerCache = field(default_factory=LayerCache)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the encoder's memory, then the feed-forward layer."""

    def __init__(self, config: TransformerConfig, position_bias: RelativeBias | None = None) -> None:
        super().__init__()
        self.is_pre_norm = config.is_pre_norm
        self.attention = config.self_attention(position_bias)
        self.cross_attention = config.cross_attention()
        self.feed_forward = FeedForward(config)
        self.norm_attention = config.norm()
        self.norm_cross_attention = config.norm()
        self.norm_feed_forward = config.norm()
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch time d_model"],
        memory: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, ...] | None = None,
        memory_mask: Bool[Tensor, ...] | None = None,
        is_causal: bool = True,
        cache: DecoderLayerCache | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """One layer; queries come from `x`, the keys and values of cross-attention from `memory`.

        `mask` is broadcast to (B, H, T, T) and combined with the causal mask, `memory_mask` is broadcast to
        (B, H, T, S). With a cache, `x` are the new positions only, and the memory is projected once.
        """
        of_written, of_memory = (None, None) if cache is None else (cache.written, cache.memory)
        unread = memory if of_memory is None else memory[:, of_memory.length :]  # all of it, later nothing

        def attend(x: Tensor) -> Tensor:
            return self.dropout(self.attention(x, x, x, mask, is_causal, of_written))

        def look_back(x: Tensor) -> Tensor:
            return self.dropout(self.cross_attention(x, unread, unread, memory_mask, cache=of_memory))

        if self.is_pre_norm:
            x = x + attend(self.norm_attention(x))
            x = x + look_back(self.norm_cross_attention(x))
            return x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(x + attend(x))
        x = self.norm_cross_attention(x + look_back(x))
        return self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))


class Encoder(nn.Module):
    """A stack of encoder layers, each with its own weights; pre-norm adds one norm at the end."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_layers))
        self.norm = config.norm() if config.is_pre_norm else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch time d_model"],
        mask: Bool[Tensor, ...] | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch time d_model"]:
        for layer in self.layers:
            x = layer(x, mask, is_causal)
        return self.norm(x)


class Decoder(nn.Module):
    """A stack of decoder layers that all attend to the same memory; pre-norm adds one norm at the end."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_layers))
        self.norm = config.norm() if config.is_pre_norm else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch time d_model"],
        memory: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, ...] | None = None,
        memory_mask: Bool[Tensor, ...] | None = None,
        is_causal: bool = True,
        caches: Sequence[DecoderLayerCache] | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """The whole stack; with caches, one for each layer, `x` are the new positions only."""
        each_cache = [None] * len(self.layers) if caches is None else caches
        for layer, cache in zip(self.layers, each_cache, strict=True):
            x = layer(x, memory, mask, memory_mask, is_causal, cache)
        return self.norm(x)

    def new_caches(self) -> list[DecoderLayerCache]:
        """An empty cache for each layer."""
        return [DecoderLayerCache() for _ in self.layers]
