"""From a model's log-probabilities to the next token: the most probable one, or one drawn at random."""

from __future__ import annotations

from typing import Protocol, TypeGuard, runtime_checkable

import torch

from course.language_model import LanguageModel
from course.sampling.distribution import History, Logits
from course.shapes import Float, Int, Tensor


def most_probable(logits: Logits, history: History | None = None) -> Int[Tensor, "*batch"]:
    """The token with the largest logit, the first one of equals: the choice of greedy decoding."""
    return logits.argmax(dim=-1)


def sample_next_token(logits: Logits, generator: torch.Generator) -> Int[Tensor, "*batch"]:
    """Draw one token per row from softmax(logits).

    Raises ValueError if no token of a row is possible.
    """
    if (logits.amax(dim=-1) == -torch.inf).any() or logits.isnan().any():
        raise ValueError("logits: expected at least one possible token in each row, got a row of −∞ or NaN")
    probs = logits.softmax(dim=-1).flatten(end_dim=-2) if logits.ndim > 1 else logits.softmax(dim=-1)[None]
    tokens = torch.multinomial(probs.to(generator.device), num_samples=1, generator=generator)
    return tokens.reshape(logits.shape[:-1]).to(logits.device)


@runtime_checkable
class Cache(Protocol):
    """What a model remembers of the tokens that it has read."""

    @property
    def length(self) -> int:
        """How many positions are cached."""

    def select(self, rows: Tensor) -> Cache:
        """A separate cache for the chosen rows of the batch."""


class ModelWithCache(LanguageModel, Protocol):
    """A language model that continues from its cache, and adds to it what it reads."""

    def new_cache(self) -> Cache:
        """A cache of no tokens."""

    def __call__(self, tokens: Tensor, cache: Cache | None = None) -> Tensor:
        """New tokens (B, T) → log-probabilities (B, T, V)."""


@runtime_checkable
class AnswersLast(Protocol):
    """A model with a cache that can leave out the logits of all positions but the last."""

    def next_log_probs(self, tokens: Tensor, cache: Cache | None = None) -> Tensor:
        """New tokens (B, T) → log-probabilities (B, V) after the last."""


def has_cache(model: LanguageModel) -> TypeGuard[ModelWithCache]:
    """Whether a model can continue from what it has read."""
    return hasattr(model, "new_cache")


class NextToken:
    """Log-probabilities of the token after a growing text, which a model with a cache reads only once.

    A model with `new_cache()` (such as GPT) reads only the new tokens; any other model reads the whole text
    again. Beyond the context length only the last `context_length` tokens are read, without a cache, because
    every position changes.
    """

    def __init__(self, model: LanguageModel, *, use_cache: bool = True) -> None:
        self.model = model
        self.cache = model.new_cache() if use_cache and has_cache(model) else None

    @torch.no_grad()
    def __call__(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch vocab"]:
        limit = self.model.context_length
        if limit is not None and tokens.shape[1] > limit:
            return self.model(tokens[:, -limit:])[:, -1]
        if self.cache is None or not has_cache(self.model):
            return self.model(tokens)[:, -1]
        new = tokens[:, self.cache.length :]
        if isinstance(self.model, AnswersLast):
            return self.model.next_log_probs(new, cache=self.cache)
        return self.model(new, cache=self.cache)[:, -1]

    def select(self, rows: Int[Tensor, " rows"]) -> None:
        """Continue with these rows of the batch, in this order; beam search does so after each step."""
        if self.cache is not None:
            self.cache = self.cache.select(rows)
