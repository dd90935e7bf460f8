"""What GPT and Llama share: embeddings, a KV cache, and the embedding matrix again to score every token.

Each model adds its own blocks, and computes with them in `hidden`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from course.language_model import check_tokens, values_may_be_read
from course.models.linear import linear
from course.models.multi_head_attention import LayerCache
from course.shapes import Bool, Float, Int, Tensor


@runtime_checkable
class DecoderConfig(Protocol):
    """The sizes that every decoder with a cache has."""

    @property
    def vocab_size(self) -> int:
        """V, tokens are 0 … V − 1."""

    @property
    def context_length(self) -> int:
        """Most positions the model can see, cached ones included."""

    @property
    def d_model(self) -> int:
        """D, the width of the residual stream."""

    @property
    def n_layers(self) -> int:
        """How many blocks follow one another."""

    @property
    def initial_deviation(self) -> float:
        """The standard deviation of a matrix's entries before training."""


class KeyValueCache:
    """The keys and values of the tokens that a decoder has read, layer by layer."""

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


class CachedDecoder(nn.Module):
    """A language model that reads each token once: its `blocks` keep keys and values in a cache.

    A subclass makes its `blocks` and calls `reset_parameters` at the end of its own `__init__`.
    """

    blocks: nn.ModuleList

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.vocab_size = config.vocab_size
        self.context_length = config.context_length
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)

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
        covers the cached positions. Raises as `first_position` and `attendable` do.
        """
        raise NotImplementedError

    def first_position(self, tokens: Int[Tensor, "batch time"], cache: KeyValueCache | None) -> int:
        """The position of the first of these tokens, which is how many are cached.

        Raises as `check_tokens` does, counting the cached positions.
        """
        first = 0 if cache is None else cache.length
        check_tokens(tokens, self.vocab_size, self.context_length, first)
        return first

    def blocks_and_caches(self, cache: KeyValueCache | None) -> Iterator[tuple[nn.Module, LayerCache | None]]:
        """Each block with its part of the cache."""
        return zip(self.blocks, [None] * len(self.blocks) if cache is None else cache.layers, strict=True)

    def logits(
        self,
        tokens: Int[Tensor, "batch time"],
        cache: KeyValueCache | None = None,
        mask: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time vocab"]:
        """Logits of the next token at every position; the matrix is that of the embedding (tied weights)."""
        return linear(self.hidden(tokens, cache, mask), self.embedding.weight)  # (B, T, D) → (B, T, V)

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
    Raises ValueError for a row of padding alone, and for a mask that does not cover all cached and new keys.
    """
    _, n_keys = mask.shape
    if values_may_be_read(mask) and not mask.any(dim=1).all():
        row = int((~mask.any(dim=1)).nonzero()[0])
        raise ValueError(
            f"mask: expected at least one real token per sequence, got only padding in row {row}"
        )
    if n_keys != first + n_queries:
        raise ValueError(f"mask: expected {first + n_queries} keys (cached and new), got {n_keys}")
    keys = torch.arange(n_keys, device=mask.device)
    is_itself = keys[first:, None] == keys  # (queries, keys)
    return (mask[:, None, :] | is_itself)[:, None]  # (B, 1, queries, keys)
