"""Beam search: keep the best few prefixes instead of one (Graves 2012; Sutskever, Vinyals, Le 2014)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from course.language_model import LanguageModel, check_tokens
from course.sampling.bounds import expect_count, expect_not_negative
from course.sampling.next_token import NextToken
from course.shapes import Int, Tensor


@dataclass(frozen=True)
class Hypothesis:
    """A continuation of the prompt: its tokens (with </s>, without the prompt), and their log P."""

    tokens: tuple[int, ...]
    log_prob: float
    has_ended: bool

    def score(self, length_penalty: float) -> float:
        """log P / length^length_penalty, the length counted without the prompt and with </s>."""
        return self.log_prob / len(self.tokens) ** length_penalty


@torch.no_grad()
def beam_search(
    model: LanguageModel,
    prompt: Int[Tensor, " time"],
    n_tokens: int,
    *,
    beam_width: int,
    eos: int | None = None,
    length_penalty: float = 1.0,
    use_cache: bool = True,
) -> list[Hypothesis]:
    """The best continuations found, best score first, at most `beam_width` of them.

    Each step extends every prefix by every token and keeps the `beam_width` most probable extensions
    (log-probabilities are added). A prefix that ends in `eos` leaves the beam and joins the finished ones.
    Prefixes that are not finished after `n_tokens` tokens are ranked with them, by
    log P / length^length_penalty: a penalty of 0 prefers short texts, 1 gives the mean per token. A width of
    1 is greedy decoding, a width of V^n_tokens is exhaustive search.

    The search stops early only when no prefix can still overtake: log P never rises, so the best possible
    score of a prefix is log P / n_tokens^length_penalty.
    """
    expect_count("n_tokens", n_tokens, 10**9, "any length")
    expect_count("beam_width", beam_width, 10**9, "any width")
    expect_not_negative("length_penalty", length_penalty)
    prompt = prompt.reshape(1, -1)
    check_tokens(prompt, model.vocab_size)
    next_token = NextToken(model, use_cache=use_cache)
    texts, totals = prompt, torch.zeros(1, dtype=torch.float64)  # (beams, T), (beams,)
    finished: list[Hypothesis] = []
    for n in range(1, n_tokens + 1):
        texts, totals, rows = extend(texts, totals, next_token(texts), beam_width)
        ends = texts[:, -1] == eos if eos is not None else torch.zeros(len(texts), dtype=torch.bool)
        finished += hypotheses(texts[ends], totals[ends.cpu()], n, has_ended=True)
        texts, totals = texts[~ends], totals[~ends.cpu()]
        if len(texts) == 0 or nothing_can_overtake(finished, totals, n_tokens, beam_width, length_penalty):
            return best_first(finished, beam_width, length_penalty)
        next_token.select(rows[~ends])
    unfinished = hypotheses(texts, totals, n_tokens, has_ended=False)
    return best_first(finished + unfinished, beam_width, length_penalty)


def extend(
    texts: Tensor, totals: Tensor, log_probs: Tensor, beam_width: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The most probable one-token extensions: texts (beams, T + 1), their log P, the rows they extend."""
    vocab_size = log_probs.shape[-1]
    candidates = (totals[:, None] + log_probs.double().cpu()).flatten()  # (beams · V,)
    possible = int((candidates > -torch.inf).sum())
    totals, which = candidates.topk(min(beam_width, possible))
    rows, tokens = which.to(texts.device) // vocab_size, which.to(texts.device) % vocab_size
    return torch.cat([texts[rows], tokens[:, None]], dim=1), totals, rows


def hypotheses(texts: Tensor, totals: Tensor, n_new: int, *, has_ended: bool) -> list[Hypothesis]:
    """Rows of tensors as hypotheses, without the prompt."""
    pairs = zip(texts[:, -n_new:].tolist(), totals.tolist(), strict=True)
    return [Hypothesis(tuple(tokens), log_prob, has_ended) for tokens, log_prob in pairs]


def best_first(found: list[Hypothesis], beam_width: int, length_penalty: float) -> list[Hypothesis]:
    """The `beam_width` best hypotheses, sorted by score."""
    return sorted(found, key=lambda one: -one.score(length_penalty))[:beam_width]


def nothing_can_overtake(
    finished: list[Hypothesis], totals: Tensor, n_tokens: int, beam_width: int, length_penalty: float
) -> bool:
    """Whether `beam_width` finished texts score at least as high as the best prefix ever could."""
    if len(finished) < beam_width:
        return False
    worst = best_first(finished, beam_width, length_penalty)[-1].score(length_penalty)
    return worst >= float(totals.max()) / n_tokens**length_penalty
