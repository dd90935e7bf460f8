"""GPT: a stack of causal Transformer blocks that predicts the next token.

The architecture is that of GPT-2 (Radford et al. 2019): learned positions, pre-norm, GELU in its tanh form,
and one matrix that both embeds and scores tokens (tied weights). The other kinds of positions are options.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from course.language_model import check_tokens
from course.models.linear import linear
from course.models.multi_head_attention import LayerCache
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


class KeyValueCache:
    """The keys and values of the tokens that a GPT has read, layer by layer."""

    def __init__(self, n_layers: int) -> None:
        self.layers = [LayerCache() for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """How many positions are cached; this is also the position of the next token."""
        return self.layers[0].length

    def select(self, rows: Tensor) -> KeyValueCache:
        """A separate cache for the chosen batch rows, so that beams do not overwrite each other."""
        chosen = KeyValueCache(0)
        chosen.layers = [layer.select(rows) for layer in self.layers]
        return chosen


class GPT(nn.Module):
    """Embeddings, causal blocks, a last norm, and the embedding matrix again to score every token."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.vocab_size = config.vocab_size
        self.context_length = config.context_length
        block = config.block()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
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

    def reset_parameters(self) -> None:
        """As in GPT-2: normal, less for matrices whose output is added to the residual stream; biases 0."""
        deviation = self.config.initial_deviation
        for name, parameter in self.named_parameters():
            if name.endswith(("W_output.weight", "contract.weight")):
                nn.init.normal_(parameter, std=deviation / math.sqrt(2 * self.config.n_layers))
            elif parameter.ndim == 2 and "position_bias" not in name:
                nn.init.normal_(parameter, std=deviation)
            elif name.endswith("bias") and parameter.ndim == 1:
                nn.init.zeros_(parameter)

    def hidden(
        self,
        tokens: Int[Tensor, "batch time"],
        cache: KeyValueCache | None = None,
        mask: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """The residual stream after the last norm.

        With a cache, `tokens` are only the new ones, and are added to it. `mask` is False at padding and also
        covers the cached positions. Raises as `check_tokens` does, counting the cached positions.
        """
        check_tokens(tokens, self.vocab_size)
        _, T = tokens.shape
        first = 0 if cache is None else cache.length
        if first + T > self.context_length:
            raise ValueError(
                f"tokens: expected at most {self.context_length} positions, got T = {T}"
                + (f" after {first} cached ones" if first else "")
            )
        x = self.embedding(tokens)  # (B, T, D)
        if self.positions is not None:
            x = x + self.positions(T, first)
        x = self.dropout(x)
        attendable_keys = None if mask is None else attendable(mask, first, T)  # (B, 1, T, keys)
        layers = [None] * len(self.blocks) if cache is None else cache.layers
        for block, layer in zip(self.blocks, layers, strict=True):
            x = block(x, attendable_keys, is_causal=True, cache=layer)  # (B, T, D)
        return self.norm(x)

    def logits(
        self,
        tokens: Int[Tensor, "batch time"],
        cache: KeyValueCache | None = None,
        mask: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time vocab"]:
        """Logits of the next token at every position."""
        return linear(self.hidden(tokens, cache, mask), self.embedding.weight)

    def forward(
        self,
        tokens: Int[Tensor, "batch time"],
        cache: KeyValueCache | None = None,
        mask: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities of the next token at every position."""
        return self.logits(tokens, cache, mask).log_softmax(dim=-1)

    def new_cache(self) -> KeyValueCache:
        """An empty KV cache, to pass to each call during generation."""
        return KeyValueCache(self.config.n_layers)


def attendable(
    mask: Bool[Tensor, "batch keys"], first: int, n_queries: int
) -> Bool[Tensor, "batch 1 queries keys"]:
    """No query attends to padding, except that each position may attend to itself.

    Without this exception, padding at the start would have no key to attend to. Its output is never used.
    """
    _, n_keys = mask.shape
    if not mask.any(dim=1).all():
        row = int((~mask.any(dim=1)).nonzero()[0])
        raise ValueError(
            f"mask: expected at least one real token per sequence, got only padding in row {row}"
        )
    if n_keys != first + n_queries:
        raise ValueError(f"mask: expected {first + n_queries} keys (cached and new), got {n_keys}")
    keys = torch.arange(n_keys, device=mask.device)
    is_itself = keys[first:, None] == keys  # (queries, keys)
    return (mask[:, None, :] | is_itself)[:, None]  # (B, 1, queries, keys)
