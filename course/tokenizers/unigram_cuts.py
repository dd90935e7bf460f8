"""All the ways to segment a word into subwords: the best segmentation (*cut*), and an average over all.

The probability of a cut is the product of its pieces' probabilities. Viterbi's algorithm finds the most
probable cut, the forward-backward algorithm averages over all cuts; both visit each piece of the word once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

UNKNOWN_PENALTY = 10.0  # an unknown character costs this much more (in nats) than the rarest piece


@dataclass(frozen=True)
class Pieces:
    """The pieces with their natural log-probabilities."""

    log_probs: Mapping[str, float]

    @cached_property
    def longest(self) -> int:
        """Characters of the longest piece."""
        return max(map(len, self.log_probs))

    @cached_property
    def unknown(self) -> float:
        """The log-probability of a character that is not a piece."""
        return min(self.log_probs.values()) - UNKNOWN_PENALTY

    def ending_at(self, word: str, end: int) -> Iterator[tuple[int, float]]:
        """The start and the log-probability of every piece that ends at `end`."""
        for start in range(max(0, end - self.longest), end):
            log_prob = self.log_probs.get(word[start:end])
            if log_prob is not None:
                yield start, log_prob


def best_cut(word: str, pieces: Pieces, *, without: str | None = None) -> list[str]:
    """The pieces of the most probable cut (Viterbi), optionally `without` one of the pieces.

    A character that is not a piece stands alone, with a penalty.
    """
    best = [(0.0, 0)]  # for each end: log P of the best cut up to it, and where its last piece begins
    for end in range(1, len(word) + 1):
        candidates = [
            (best[start][0] + log_prob, start)
            for start, log_prob in pieces.ending_at(word, end)
            if word[start:end] != without
        ]
        if word[end - 1] not in pieces.log_probs:
            candidates.append((best[end - 1][0] + pieces.unknown, end - 1))
        best.append(max(candidates))
    cut: list[str] = []
    end = len(word)
    while end:
        start = best[end][1]
        cut.append(word[start:end])
        end = start
    return cut[::-1]


def log_add(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    low, high = min(a, b), max(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def expected_counts(word: str, pieces: Pieces) -> tuple[dict[str, float], float]:
    """The expected count of each piece in the word, over all cuts weighted by probability, and log P(word).

    forward[i] is the log-probability of all cuts up to character i, backward[i] of all cuts from i on.
    """
    n = len(word)
    spans = [(start, end, p) for end in range(1, n + 1) for start, p in pieces.ending_at(word, end)]
    forward, backward = [0.0] + [-math.inf] * n, [-math.inf] * n + [0.0]
    for start, end, log_prob in spans:  # in order of their ends
        forward[end] = log_add(forward[end], forward[start] + log_prob)
    for start, end, log_prob in reversed(spans):
        backward[start] = log_add(backward[start], backward[end] + log_prob)
    counts: dict[str, float] = {}
    for start, end, log_prob in spans:
        share = math.exp(forward[start] + log_prob + backward[end] - forward[n])
        counts[word[start:end]] = counts.get(word[start:end], 0.0) + share
    return counts, forward[n]
