"""Ready-made parts of homework 1: counting n-grams, and interpolating several orders."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

__all__ = ["interpolated_prob", "ngram_counts"]

BOS, EOS = "<s>", "</s>"
Counts = Mapping[tuple[str, ...], Mapping[str, int]]


def ngram_counts(sentences: Sequence[Sequence[str]], n: int) -> Counts:
    """As in exercise 7."""
    counts: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        text = (*[BOS] * (n - 1), *sentence, EOS)
        for first, token in enumerate(text[n - 1 :]):
            counts[text[first : first + n - 1]][token] += 1
    return dict(counts)


def interpolated_prob(
    counts_by_order: Sequence[Counts],
    weights: Sequence[float],
    context: tuple[str, ...],
    token: str,
    words: Sequence[str],
) -> float:
    """As in exercise 11."""
    return _estimate(list(zip(counts_by_order, weights, strict=True)), context, token, 1 / (len(words) + 1))


def _estimate(
    orders: Sequence[tuple[Counts, float]], context: tuple[str, ...], token: str, uniform: float
) -> float:
    if not orders:
        return uniform
    counts, weight = orders[-1]
    below = _estimate(orders[:-1], context, token, uniform)
    followers = counts.get(context[len(context) - len(orders) + 1 :], {})
    total = sum(followers.values())
    return weight * followers.get(token, 0) / total + (1 - weight) * below if total else below
