"""Prompts of unequal lengths in one batch: padding stands before the shorter ones, and nothing attends to it.

    generate(IgnorePadding(model), pad_prompts([[5, 3, 8], [7]]), n_tokens=20)

gives each prompt the continuation that it would get alone. The padding is −1, which the samplers that read
the history ignore too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

from course.language_model import LanguageModel
from course.sampling.next_token import Cache
from course.shapes import Bool, Float, Int, Tensor

PADDING = -1


def pad_prompts(prompts: Sequence[Sequence[int]]) -> Int[Tensor, "batch time"]:
    """[[5, 3, 8], [7]] → [[5, 3, 8], [−1, −1, 7]]: all prompts end at the same position.

    Raises ValueError for no prompt or an empty one.
    """
    if not prompts or not all(prompts):
        raise ValueError("prompts: expected at least one, each of at least one token")
    longest = max(map(len, prompts))
    return torch.tensor([[PADDING] * (longest - len(prompt)) + list(prompt) for prompt in prompts])


@runtime_checkable
class ModelWithMask(Protocol):
    """A model with a cache that takes a mask, and in which only distances between positions matter."""

    @property
    def vocab_size(self) -> int:
        """V, tokens are 0 … V − 1."""

    @property
    def context_length(self) -> int | None:
        """Most positions the model can see, padding included."""

    def new_cache(self) -> Cache:
        """A cache of no tokens."""

    def __call__(self, tokens: Tensor, cache: Cache | None = None, mask: Tensor | None = None) -> Tensor:
        """New tokens (B, T) → log-probabilities (B, T, V); the mask (B, keys) is False at padding."""

    def next_log_probs(
        self, tokens: Tensor, cache: Cache | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """The same after the last position only, (B, V)."""


@dataclass
class PaddedCache:
    """What the model remembers, and which positions of it are padding."""

    inner: Cache
    mask: Bool[Tensor, "batch keys"] | None = None  # False at padding

    @property
    def length(self) -> int:
        """How many positions are cached, padding included."""
        return self.inner.length

    def select(self, rows: Tensor) -> PaddedCache:
        """A separate cache for the chosen rows of the batch."""
        return PaddedCache(self.inner.select(rows), None if self.mask is None else self.mask[rows])

    def extend(self, tokens: Int[Tensor, "batch new"]) -> Bool[Tensor, "batch keys"]:
        """The mask of all positions, with those of new tokens, before the model reads them."""
        new = tokens != PADDING
        self.mask = new if self.mask is None else torch.cat([self.mask, new], dim=1)
        return self.mask


class IgnorePadding:
    """A language model for batches in which −1 stands before shorter sequences.

    It needs a model with rotary positions, such as Llama: with learned ones, a prompt behind padding stands
    at positions other than its own.
    """

    def __init__(self, model: ModelWithMask) -> None:
        self.model = model
        self.vocab_size = model.vocab_size
        self.context_length = model.context_length

    def new_cache(self) -> PaddedCache:
        """A cache of no tokens."""
        return PaddedCache(self.model.new_cache())

    def __call__(
        self, tokens: Int[Tensor, "batch time"], cache: PaddedCache | None = None
    ) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities of the next token at every position; those at padding are meaningless."""
        cache = self.new_cache() if cache is None else cache
        return self.model(tokens.clamp(min=0), cache.inner, cache.extend(tokens))

    def next_log_probs(
        self, tokens: Int[Tensor, "batch time"], cache: PaddedCache
    ) -> Float[Tensor, "batch vocab"]:
        """Log-probabilities after the last position only."""
        return self.model.next_log_probs(tokens.clamp(min=0), cache.inner, cache.extend(tokens))


def reads_padding(model: LanguageModel) -> bool:
    """Whether a model knows −1 as padding."""
    return isinstance(model, IgnorePadding)
