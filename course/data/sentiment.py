"""Generated reviews with a label, and the best accuracy that any classifier can reach.

    the plot is not boring and the music is lovely but the ending is weak .      → positive

A review has a label, positive or negative, and 1 to `max_opinions` opinions. Each opinion agrees with the
label with probability `reliability`, whatever the others say, and is expressed in one of two ways: by a word
of its own polarity, or by "not" and a word of the opposite polarity. So single words mislead: "not" must be
read with the word after it, and the opinions must be weighed against each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

POSITIVE = 1
CONNECTIVES = ("and", "but")


@dataclass(frozen=True)
class SentimentConfig:
    """The parameters of the reviews."""

    max_opinions: int = 4
    reliability: float = 0.85  # an opinion agrees with the label
    p_negation: float = 0.3  # an opinion is expressed with "not"
    subjects: tuple[str, ...] = ("plot", "music", "ending", "cast", "story", "camera", "dialogue", "film")
    positive: tuple[str, ...] = ("lovely", "clever", "funny", "gripping", "fresh", "moving", "sharp", "warm")
    negative: tuple[str, ...] = ("boring", "weak", "silly", "flat", "stale", "clumsy", "dreadful", "cold")

    def __post_init__(self) -> None:
        if self.max_opinions < 1:
            raise ValueError(f"max_opinions: expected at least 1, got {self.max_opinions}")
        if not 0.5 < self.reliability < 1:
            raise ValueError(f"reliability: expected a number between 0.5 and 1, got {self.reliability}")
        if not 0 <= self.p_negation <= 1:
            raise ValueError(f"p_negation: expected a probability from 0 to 1, got {self.p_negation}")
        if set(self.positive) & set(self.negative):
            raise ValueError("expected no word to be positive and negative at once")


@dataclass(frozen=True)
class Review:
    """Words and their label: 1 positive, 0 negative."""

    words: tuple[str, ...]
    label: int


def draw_reviews(config: SentimentConfig, n_reviews: int, rng: Random) -> list[Review]:
    """Independent reviews, both labels equally likely."""
    if n_reviews < 1:
        raise ValueError(f"n_reviews: expected at least 1, got {n_reviews}")
    return [_draw_review(config, rng) for _ in range(n_reviews)]


def _draw_review(config: SentimentConfig, rng: Random) -> Review:
    label = rng.randrange(2)
    words: list[str] = []
    for i in range(rng.randint(1, config.max_opinions)):
        polarity = label if rng.random() < config.reliability else 1 - label
        words += [rng.choice(CONNECTIVES)] if i else []
        words += _opinion(config, polarity, rng)
    return Review((*words, "."), label)


def _opinion(config: SentimentConfig, polarity: int, rng: Random) -> list[str]:
    is_negated = rng.random() < config.p_negation
    adjectives = config.positive if (polarity == POSITIVE) != is_negated else config.negative
    return ["the", rng.choice(config.subjects), "is", *(["not"] * is_negated), rng.choice(adjectives)]


def positive_probability(config: SentimentConfig, words: Sequence[str]) -> float:
    """P(positive | words), exactly: each opinion multiplies the odds by r / (1 − r) or its inverse."""
    favourable = 0
    for before, word in zip(("", *words), words, strict=False):
        if word in config.positive or word in config.negative:
            is_favourable = (word in config.positive) != (before == "not")
            favourable += 1 if is_favourable else -1
    odds = (config.reliability / (1 - config.reliability)) ** favourable
    return odds / (1 + odds)


def best_accuracy(config: SentimentConfig) -> float:
    """The accuracy of the best possible classifier, which follows the majority of the opinions.

    The mean over m = 1 … max_opinions of P(more than half of m opinions agree) + ½ P(exactly half agree).
    """
    r = config.reliability
    total = 0.0
    for m in range(1, config.max_opinions + 1):
        for agreeing in range(m + 1):
            probability = math.comb(m, agreeing) * r**agreeing * (1 - r) ** (m - agreeing)
            total += probability * (1 if 2 * agreeing > m else 0.5 if 2 * agreeing == m else 0)
    return total / config.max_opinions
