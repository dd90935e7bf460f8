"""Mirostat: a controller that keeps the surprise of the sampled tokens near a target.

Basu, Ramachandran, Keskar, Varshney 2021, "Mirostat: a neural text decoding algorithm that directly controls
perplexity". Surprise (surprisal) is −log2 P in bits, so a target of τ aims at a perplexity of 2^τ. The state
is one number per row, μ, the largest surprise allowed. It is passed in and returned, starts at 2τ, and is
updated after each token:

    μ ← μ − learning_rate · (surprise of the token − τ)

where the surprise is measured under the model's distribution, before truncation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from course.sampling.bounds import expect_count, expect_positive
from course.sampling.distribution import History, Logits, keep_only, unsorted
from course.sampling.next_token import sample_next_token
from course.shapes import Float, Int, Tensor


def surprises(logits: Logits) -> Float[Tensor, "*batch vocab"]:
    """−log2 P of each token, in bits."""
    return -logits.log_softmax(dim=-1) / math.log(2)


def first_mu(target: float, n_rows: int) -> Tensor:
    """The state before the first token: 2τ for each row, shape (B,)."""
    expect_positive("target", target)
    return torch.full((n_rows,), 2.0 * target)


def next_mu(
    mu: Float[Tensor, "*batch"],
    logits: Logits,
    token: Int[Tensor, "*batch"],
    *,
    target: float,
    learning_rate: float = 0.1,
) -> Tensor:
    """The state after a token: lower if it was more surprising than the target, higher if less.

    `logits` are the model's own, not the truncated ones.
    """
    expect_positive("target", target)
    expect_positive("learning_rate", learning_rate)
    surprise = surprises(logits).gather(-1, token[..., None])[..., 0]
    return mu - learning_rate * (surprise - target)


def at_most_surprise(logits: Logits, history: History | None = None, *, mu: Tensor) -> Logits:
    """Version 2: keep the tokens whose surprise is at most μ bits, and always the most probable one."""
    return keep_only(logits, surprises(logits) <= mu[..., None])


def zipf_exponent(logits: Logits, *, n_top: int = 100) -> Tensor:
    """Version 1: ŝ of P(rank i) ∝ i^(−s), by least squares on the most probable tokens.

    ŝ = Σ tᵢbᵢ / Σ tᵢ² with tᵢ = log((i + 1) / i), bᵢ = log(Pᵢ / Pᵢ₊₁); equation 30 of the paper. Tokens
    that cannot occur are left out.
    """
    expect_count("n_top", n_top, 10**9, "any number of ranks")
    log_probs = logits.log_softmax(dim=-1).topk(min(n_top, logits.shape[-1]), dim=-1).values
    b = -log_probs.diff(dim=-1)
    rank = torch.arange(1, b.shape[-1] + 1, dtype=logits.dtype, device=logits.device)
    possible = b.isfinite()
    t = ((rank + 1) / rank).log().expand_as(b).where(possible, 0)
    squares = t.square().sum(dim=-1).clamp(min=torch.finfo(logits.dtype).tiny)
    return (t * b.where(possible, 0)).sum(dim=-1) / squares


def zipf_top_k(
    logits: Logits,
    history: History | None = None,
    *,
    mu: Tensor,
    n_top: int = 100,
) -> Tensor:
    """Version 1: keep the k most probable tokens, where a Zipf law reaches a surprise of μ at rank k.

    k = (ε̂ · 2^μ / (1 − V^(−ε̂)))^(1/ŝ) with ε̂ = ŝ − 1, rounded down, from 1 to V; algorithm 1.
    """
    vocab_size = logits.shape[-1]
    smallest = 1e-3  # a flat distribution has ŝ = 0, an exponent nothing can be divided by
    s = zipf_exponent(logits, n_top=n_top).clamp(min=smallest)
    excess = torch.where((s - 1).abs() < smallest, smallest, s - 1)  # ε̂; the formula is 0/0 at ŝ = 1
    log_k = ((excess / (1 - vocab_size ** (-excess))).log() + mu * math.log(2)) / s
    k = log_k.clamp(min=0, max=math.log(vocab_size)).exp().add(1e-6).floor()
    rank = torch.arange(vocab_size, device=logits.device).expand_as(logits)
    order = logits.argsort(dim=-1, descending=True, stable=True)
    return keep_only(logits, unsorted(rank < k[..., None], order))


class Mirostat:
    """Draws tokens and carries μ from each token to the next: `logits (B, V), history (B, T) → tokens (B,)`.

    `truncate` is `at_most_surprise` (version 2) or `zipf_top_k` (version 1).
    """

    def __init__(
        self,
        target: float,
        generator: torch.Generator,
        *,
        learning_rate: float = 0.1,
        truncate: Callable[..., Tensor] = at_most_surprise,
    ) -> None:
        self.target, self.learning_rate = target, learning_rate
        self.generator, self.truncate = generator, truncate
        self.mu: Tensor | None = None

    def __call__(self, logits: Float[Tensor, "batch vocab"], history: Tensor | None = None) -> Tensor:
        mu = first_mu(self.target, len(logits)).to(logits) if self.mu is None else self.mu
        token = sample_next_token(self.truncate(logits, mu=mu), self.generator)
        self.mu = next_mu(mu, logits, token, target=self.target, learning_rate=self.learning_rate)
        return token
