"""Penalties on repetition: the samplers that read the history.

`logits (…, V), history (…, T) → logits (…, V)`. The history is all tokens so far, including the prompt.
Negative numbers in it are padding and are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from course.sampling.bounds import expect_count, expect_not_negative, expect_positive
from course.sampling.distribution import History, Logits
from course.shapes import Int, Tensor


def expect_history(history: History, logits: Logits) -> None:
    """Check that a history has one row per row of logits, with tokens of their vocabulary."""
    rows, vocab_size = logits.shape[:-1], logits.shape[-1]
    if history.shape[:-1] != rows:
        shape = ", ".join([*map(str, rows), "T"])
        raise ValueError(
            f"history: expected shape ({shape}) beside logits {tuple(logits.shape)},"
            f" got {tuple(history.shape)}"
        )
    if history.numel() and int(history.max()) >= vocab_size:
        raise ValueError(f"history: expected tokens below {vocab_size}, got {int(history.max())}")


def token_counts(history: History, logits: Logits) -> Int[Tensor, "*batch vocab"]:
    """How often each token has occurred: [2, 0, 2, −1] → [1, 0, 2] for logits of three tokens."""
    expect_history(history, logits)
    counts = torch.zeros(logits.shape, dtype=torch.long, device=history.device)
    return counts.scatter_add(-1, history.clamp(min=0), (history >= 0).long())


def presence_penalty(logits: Logits, history: History, *, penalty: float) -> Logits:
    """z − penalty for each token that occurs in the history, however often. OpenAI API, 2021.

    A negative penalty rewards repetition.
    """
    return logits - penalty * (token_counts(history, logits) > 0)


def frequency_penalty(logits: Logits, history: History, *, penalty: float) -> Logits:
    """z − penalty · (number of occurrences in the history). OpenAI API, 2021.

    A negative penalty rewards repetition.
    """
    return logits - penalty * token_counts(history, logits)


def repetition_penalty(logits: Logits, history: History, *, penalty: float) -> Logits:
    """z / penalty where z > 0 and z · penalty where z < 0, for each token that occurs in the history.

    Both lower the logit if penalty > 1. Adding a constant to all logits changes the result, although it does
    not change the softmax. For log-probabilities, which are never positive, P becomes P^penalty before it is
    normalised again. Keskar et al. 2019, "CTRL", section 4.1, which only divides.
    """
    expect_positive("penalty", penalty)
    penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(token_counts(history, logits) > 0, penalised, logits)


def repeated_lengths(history: History, breakers: Sequence[int] = ()) -> Int[Tensor, "*batch before_last"]:
    """For each position but the last: how many tokens up to it match the last tokens of the history.

    [1, 2, 3, 1, 2] → [0, 2, 0, 0]: the end "1 2" also occurs earlier, ending at position 1. A breaker (or
    padding) ends the comparison.
    """
    n_time = history.shape[-1]
    lengths = torch.zeros_like(history[..., 1:])
    is_breaker = torch.isin(history, torch.tensor(breakers, dtype=history.dtype, device=history.device))
    comparable = ~is_breaker & (history >= 0)
    alive = torch.ones_like(lengths, dtype=torch.bool)
    for n in range(1, n_time):
        last = history[..., n_time - n, None]
        same = (history[..., : n_time - n] == last) & comparable[..., n_time - n, None]
        alive = alive[..., -same.shape[-1] :] & same  # positions too near the beginning drop out
        if not alive.any():
            break
        lengths[..., n - 1 :] += alive
    return lengths


def continued_lengths(
    logits: Logits, history: History, breakers: Sequence[int] = ()
) -> Int[Tensor, "*batch vocab"]:
    """For each token, the length of the longest end of the history that it followed before, or 0."""
    expect_history(history, logits)
    lengths = repeated_lengths(history, breakers)
    longest = torch.zeros(logits.shape, dtype=lengths.dtype, device=logits.device)
    return longest.scatter_reduce(-1, history[..., 1:].clamp(min=0), lengths, "amax")


def dry(
    logits: Logits,
    history: History,
    *,
    multiplier: float,
    base: float = 1.75,
    allowed_length: int = 2,
    breakers: Sequence[int] = (),
) -> Tensor:
    """Don't repeat yourself: a token that continues a repeat loses multiplier · base^(n − allowed_length).

    n is the length of the longest end of the history that has occurred before, followed by this token; below
    `allowed_length` nothing is penalised. Repeats do not reach across breakers (full stop, new line).
    P. E. Weidmann 2024 (text-generation-webui, pull request 5677).
    """
    expect_not_negative("multiplier", multiplier)
    expect_count("allowed_length", allowed_length, 10**9, "any length")
    if base < 1:
        raise ValueError(f"base: expected at least 1, so that longer repeats cost more; got {base}")
    longest = continued_lengths(logits, history, breakers)
    penalty = multiplier * base ** (longest - allowed_length).to(logits.dtype)
    return torch.where(longest >= allowed_length, logits - penalty, logits)


def no_repeat_ngram(logits: Logits, history: History, *, n: int) -> Logits:
    """−∞ for each token with which n tokens in a row would come a second time.

    From n = 2 on this is DRY with an infinite multiplier and an allowed length of n − 1. A small vocabulary
    may be left without any token. Paulus, Xiong, Socher 2018, "A deep reinforced model for abstractive
    summarization", section 2.5.
    """
    expect_count("n", n, 10**9, "any length")
    has_occurred = token_counts(history, logits) > 0
    return logits.masked_fill(has_occurred & (continued_lengths(logits, history) >= n - 1), -torch.inf)
