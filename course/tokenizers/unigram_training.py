"""Learn the pieces of a unigram tokenizer: start with many, estimate, drop those that are missed least.

Kudo 2018, "Subword regularization", section 3.2. Written to be read, not to be fast.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from course.tokenizers.unigram_cuts import Pieces, best_cut, expected_counts

MAX_LENGTH = 12  # characters of the longest candidate
SHRINK = 0.75  # the fraction of the pieces that a round keeps
EM_STEPS = 2  # before each round of dropping
RARE = 1e-9  # the smallest count of a character, so that every character can still be spelt


def normalised(counts: Mapping[str, float]) -> dict[str, float]:
    """Counts as log-probabilities; pieces that are never used drop out."""
    total = sum(counts.values())
    return {piece: math.log(count / total) for piece, count in counts.items() if count > 0}


def candidates(word_counts: Mapping[str, int], n_seed: int) -> dict[str, float]:
    """The initial pieces: all characters, and the `n_seed` repeated substrings that cover most text."""
    counts: Counter[str] = Counter()
    for word, count in word_counts.items():
        for start in range(len(word)):
            for end in range(start + 1, min(start + MAX_LENGTH, len(word)) + 1):
                counts[word[start:end]] += count
    by_cover = sorted(counts, key=lambda piece: (-counts[piece] * len(piece), piece))
    characters = [piece for piece in by_cover if len(piece) == 1]
    longer = [piece for piece in by_cover if len(piece) > 1 and counts[piece] > 1]
    return normalised({piece: counts[piece] for piece in [*characters, *longer[:n_seed]]})


def em_step(word_counts: Mapping[str, int], log_probs: Mapping[str, float]) -> dict[str, float]:
    """One step of expectation maximisation, which never lowers the likelihood of the words."""
    pieces = Pieces(log_probs)
    totals = {piece: RARE for piece in log_probs if len(piece) == 1}
    for word, count in word_counts.items():
        for piece, expected in expected_counts(word, pieces)[0].items():
            totals[piece] = totals.get(piece, 0.0) + count * expected
    return normalised(totals)


def prune(word_counts: Mapping[str, int], log_probs: Mapping[str, float], keep: int) -> dict[str, float]:
    """Keep all characters, and of the longer pieces those whose loss would lower the likelihood most.

    Without a piece, each of its uses is spelt by the best remaining cut.
    """
    pieces = Pieces(log_probs)
    uses: Counter[str] = Counter()
    for word, count in word_counts.items():
        for piece in best_cut(word, pieces):
            uses[piece] += count
    longer = [piece for piece in log_probs if len(piece) > 1]
    loss = {}
    for piece in longer:
        instead = best_cut(piece, pieces, without=piece)
        loss[piece] = uses[piece] * (log_probs[piece] - sum(log_probs[part] for part in instead))
    n_longer = keep - (len(log_probs) - len(longer))
    kept = set(sorted(longer, key=lambda piece: (-loss[piece], piece))[:n_longer])
    return normalised({p: math.exp(value) for p, value in log_probs.items() if len(p) == 1 or p in kept})


def learn_unigrams(word_counts: Mapping[str, int], n_pieces: int, *, n_seed: int) -> dict[str, float]:
    """log P of at most `n_pieces` pieces: EM, drop a quarter, EM again … until few enough are left."""
    log_probs = candidates(word_counts, n_seed)
    n_characters = sum(len(piece) == 1 for piece in log_probs)
    if n_pieces < n_characters:
        raise ValueError(
            f"vocab_size: expected at least {n_characters + 1} (characters and <unk>), got {n_pieces + 1}"
        )
    while True:
        for _ in range(EM_STEPS):
            log_probs = em_step(word_counts, log_probs)
        if len(log_probs) <= n_pieces:
            return log_probs
        log_probs = prune(word_counts, log_probs, max(n_pieces, int(SHRINK * len(log_probs))))
