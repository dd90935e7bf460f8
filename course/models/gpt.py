"""GPT: a stack of causal Transformer blocks that predicts the next token.

The architecture is that of GPT-2 (Radford et al. 2019): learned positions, pre-norm, GELU in its tanh form,
and one matrix that both embeds and scores tokens (tied weights). The other kinds of positions are options.

`figures.machine("gpt")` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

from course.models.cached_decoder import CachedDecoder, KeyValueCache, attendable
from course.models.positions import LearnedPositions, RelativeBias, SinusoidalPositions
from course.models.transformer import EncoderLayer, TransformerConfig
from course.shapes import Bool, Float, Int, Tensor

POSITIONS = ("learned", "sinusoidal", "rotary", "relative", "none")


@dataclass(frozen=True)
class GPTConfig:
    """Sizes of a GPT; the defaults are those of GPT-2 small, 124,439,808 parameters."""

    vocab_size: int = 50_257
    context_length: int = 1024
    d_model: int = 768
    n_heads: int = 12
    n_layers: int = 12
    d_ff: int | None = None  # None: 4 · d_model
    dropout: float = 0.0
    epsilon: float = 1e-5
    positions: Literal["learned", "sinusoidal", "rotary", "relative", "none"] = "learned"
    initial_deviation: float = 0.02  # GPT-2's; for D far below 768, about 1/√D learns faster
    is_fused: bool = True  # PyTorch's kernels for attention and norm; False: the course's own lines

    def __post_init__(self) -> None:
        if self.positions not in POSITIONS:
            raise ValueError(f"positions: expected one of {', '.join(POSITIONS)}, got {self.positions!r}")

    def block(self) -> TransformerConfig:
        """The configuration of one block."""
        return TransformerConfig(
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_layers=self.n_layers,
            d_ff=self.d_ff or 4 * self.d_model,
            dropout=self.dropout,
            activation="gelu_tanh",
            is_pre_norm=True,
            epsilon=self.epsilon,
            has_rotation=self.positions == "rotary",
            is_fused=self.is_fused,
        )


class GPT(CachedDecoder):
    """Embeddings, causal blocks, a last norm, and the embedding matrix again to score every token."""

    config: GPTConfig

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        block = config.block()
        self.positions = self._positions(config)
        self.dropout = nn.Dropout(config.dropout)
        bias = RelativeBias(config.n_heads) if config.positions == "relative" else None
        self.blocks = nn.ModuleList(EncoderLayer(block, bias) for _ in range(config.n_layers))
        self.norm = block.norm()
        self.reset_parameters()

    @staticmethod
    def _positions(config: GPTConfig) -> nn.Module | None:
        kinds = {"learned": LearnedPositions, "sinusoidal": SinusoidalPositions}
        kind = kinds.get(config.positions)
        return None if kind is None else kind(config.context_length, config.d_model)

    def hidden(
        self,
        tokens: Int[Tensor, "batch time"],
        cache: KeyValueCache | None = None,
        mask: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """The residual stream after the last norm, see `CachedDecoder.hidden`."""
        first = self.first_position(tokens, cache)
        _, T = tokens.shape
        x = self.embedding(tokens)  # (B, T, D)
        if self.positions is not None:
            x = x + self.positions(T, first)
        x = self.dropout(x)
        attendable_keys = None if mask is None else attendable(mask, first, T)  # (B, 1, T, keys)
        for block, layer_cache in self.blocks_and_caches(cache):
            x = block(x, attendable_keys, is_causal=True, cache=layer_cache)  # (B, T, D)
        return self.norm(x)
