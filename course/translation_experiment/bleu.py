"""BLEU on sentences that are already split into words (Papineni et al. 2002), without other packages.

    BLEU = 100 · BP · (p_1 p_2 p_3 p_4)^(1/4),   BP = min(1, e^(1 − right words / written words))

Counts are first added up over all sentences. If no run of n words is right, p_n is smoothed as sacrebleu does
by default: the two agree on texts that sacrebleu's tokenizer leaves unchanged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

LONGEST_RUN = 4  # words

Sentences = Sequence[Sequence[str]]


def runs(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each run of n words occurs: ["a", "b", "a", "b"], 2 → {(a, b): 2, (b, a): 1}."""
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def right_runs(written: Sentences, right: Sentences, n: int) -> tuple[int, int]:
    """How many runs of n words also occur in the right sentence (counted at most as often); and all runs."""
    pairs = [(runs(one, n), runs(other, n)) for one, other in zip(written, right, strict=True)]
    return sum((one & other).total() for one, other in pairs), sum(one.total() for one, _ in pairs)


def precisions(written: Sentences, right: Sentences) -> list[float]:
    """p_1 … p_4; in place of zero, the first counts 1/2 of a run, the next 1/4, and so on."""
    shares, smallest = [], 1.0
    for n in range(1, LONGEST_RUN + 1):
        n_right, n_runs = right_runs(written, right, n)
        if n_right == 0:
            smallest /= 2
        shares.append((n_right or smallest) / n_runs if n_runs else 0.0)
    return shares


def corpus_bleu(written: Sentences, right: Sentences) -> float:
    """BLEU in percent, with one right sentence for each written sentence; 100 is perfect.

    Raises ValueError unless there are equally many of both, and at least one.
    """
    if len(written) != len(right) or not right:
        raise ValueError(
            f"written, right: expected equally many and at least one, got {len(written)} and {len(right)}"
        )
    shares, n_written, n_right = precisions(written, right), sum(map(len, written)), sum(map(len, right))
    if not all(shares) or right_runs(written, right, 1)[0] == 0:
        return 0.0
    brevity = min(1.0, math.exp(1 - n_right / n_written))
    return 100 * brevity * math.exp(sum(map(math.log, shares)) / LONGEST_RUN)
