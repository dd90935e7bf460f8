"""Ready-made parts of homework 0: what a model makes of a text, and what a word costs by one's own bets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn import functional

from course.pretrained.chat import END, START

__all__ = ["chat_prompt", "distances", "log_prob_of", "pieces_per_word", "surprise"]


def log_prob_of(logits: Tensor, tokens: Tensor) -> float:
    """As in exercise 7."""
    return -float(functional.cross_entropy(logits, tokens, reduction="sum"))


def pieces_per_word(pieces: Sequence[str]) -> list[int]:
    """As in exercise 8."""
    words = [*accumulate(i == 0 or piece.startswith(" ") for i, piece in enumerate(pieces))]
    return [words.count(word) for word in sorted(set(words))]


def distances(logits: Tensor) -> Tensor:
    """As in exercise 9."""
    probs = logits.softmax(dim=-1)
    return torch.cdist(probs, probs, p=1) / 2


def chat_prompt(messages: Sequence[tuple[str, str]]) -> str:
    """As in exercise 10."""
    turns = (f"{START}{speaker}\n{said}{END}\n" for speaker, said in messages)
    return "".join(turns) + f"{START}assistant\n"


def surprise(bets: Mapping[str, float], word: str, n_words: int) -> float:
    """As in exercise 12."""
    left = 1 - math.fsum(bets.values())
    p = bets[word] if word in bets else left / (n_words - len(bets))
    return -math.log2(p) if p > 0 else math.inf
