"""One interface for every model of the course: given these tokens, how likely is each next token?

A language model is anything that can be called as

    model(tokens: (B, T) int64)  →  log_probs (B, T, V)

where `log_probs[b, t, v]` is the natural logarithm of P(token t+1 is v | tokens 0 … t). The output at
position t depends on nothing to the right of t. n-gram models, recurrent networks, Transformers and the
true model of a generated language all have this interface, so training, evaluation, sampling and plots are
written once.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch

from course.shapes import Float, Int, Tensor


@runtime_checkable
class LanguageModel(Protocol):
    """Maps tokens (B, T) to log-probabilities (B, T, V) of the next token at every position."""

    @property
    def vocab_size(self) -> int:
        """V, tokens are 0 … V − 1."""

    @property
    def context_length(self) -> int | None:
        """Most positions the model can see; None: no limit."""

    def __call__(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]: ...


def values_may_be_read(given: Tensor) -> bool:
    """Whether a check may look at the numbers of an input, and not only at its shape.

    On a GPU, looking means waiting for it, so training does not: `course.training.train` checks the values
    before the first step. In a compiled model, looking would split what is compiled.
    """
    return not torch.compiler.is_compiling() and (given.device.type == "cpu" or not torch.is_grad_enabled())


def check_tokens(
    tokens: Tensor, vocab_size: int, context_length: int | None = None, n_cached: int = 0
) -> None:
    """Check that `tokens` is a (B, T) int64 tensor that a model of this size can read after cached positions.

    Raises TypeError for anything but an int64 tensor, ValueError for a wrong shape, too many positions
    or a token outside 0 … vocab_size − 1. The values are only looked at where `values_may_be_read` says so.
    """
    if not isinstance(tokens, Tensor):
        raise TypeError(f"tokens: expected an int64 tensor of shape (B, T), got a {type(tokens).__name__}")
    if tokens.dtype != torch.int64:
        raise TypeError(f"tokens: expected dtype torch.int64, got {tokens.dtype}")
    if tokens.ndim != 2 or tokens.numel() == 0:
        raise ValueError(
            f"tokens: expected shape (B, T) with at least one token, got {tuple(tokens.shape)}"
            + (" (one sequence is a batch of one: tokens[None])" if tokens.ndim == 1 else "")
        )
    if context_length is not None and n_cached + tokens.shape[1] > context_length:
        raise ValueError(
            f"tokens: expected at most {context_length} positions, got T = {tokens.shape[1]}"
            + (f" after {n_cached} cached ones" if n_cached else "")
        )
    if values_may_be_read(tokens):
        check_values("tokens", tokens, vocab_size)


def check_values(name: str, given: Tensor, n_values: int) -> None:
    """Raise ValueError unless every integer lies in 0 … n_values − 1."""
    smallest, largest = (extreme.item() for extreme in given.aminmax())
    if smallest < 0 or largest >= n_values:
        outside = smallest if smallest < 0 else largest
        raise ValueError(f"{name}: expected values in 0 … {n_values - 1}, got {outside}")
