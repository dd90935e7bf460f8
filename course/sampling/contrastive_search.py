"""Contrastive search: tokens that are probable but whose hidden vectors differ from those before.

Su et al. 2022, "A contrastive framework for neural text generation", equation 5.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch.nn.functional import cosine_similarity

from course.language_model import LanguageModel, check_tokens
from course.sampling.bounds import expect_count, expect_probability
from course.shapes import Float, Int, Tensor


class ModelWithStates(LanguageModel, Protocol):
    """A language model that also returns its hidden vector at each position."""

    def hidden(self, tokens: Tensor) -> Tensor:
        """Tokens (B, T) → vectors (B, T, D)."""


def degeneration_penalty(
    candidates: Float[Tensor, "k d_model"], context: Float[Tensor, "time d_model"]
) -> Float[Tensor, " k"]:
    """The largest cosine between each candidate's vector and any vector of the context (at most 1)."""
    return cosine_similarity(candidates[:, None], context[None], dim=-1).amax(dim=-1)


@torch.no_grad()
def contrastive_search(
    model: ModelWithStates,
    prompt: Int[Tensor, " time"],
    n_tokens: int,
    *,
    k: int,
    alpha: float,
    eos: int | None = None,
) -> Int[Tensor, " longer"]:
    """Append, of the k most probable candidates, the one with the largest (1 − α)·P(v) − α·max cos(h_v, h_j).

    h_v is the model's hidden vector after reading candidate v, h_j runs over those of all earlier positions.
    α = 0 is greedy decoding; larger values avoid repetition. No random numbers are used.
    """
    expect_count("n_tokens", n_tokens, 10**9, "any length")
    expect_count("k", k, model.vocab_size, "the size of the vocabulary")
    expect_probability("alpha", alpha)
    text = prompt.reshape(-1)
    check_tokens(text[None], model.vocab_size)
    for _ in range(n_tokens):
        context = text if model.context_length is None else text[-(model.context_length - 1) :]
        probs, tokens = model(context[None])[0, -1].exp().topk(k)
        states = model.hidden(torch.cat([context.expand(k, -1), tokens[:, None]], dim=1))  # (k, T + 1, D)
        score = (1 - alpha) * probs - alpha * degeneration_penalty(states[:, -1], states[0, :-1])
        chosen = tokens[score.argmax()]
        text = torch.cat([text, chosen[None]])
        if eos is not None and chosen == eos:
            break
    return text
