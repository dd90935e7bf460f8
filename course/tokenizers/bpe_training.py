"""Learn byte-pair merges: the most frequent pair of adjacent tokens becomes one token, again and again.

Sennrich, Haddow, Birch 2016, "Neural machine translation of rare words with subword units", section 3.2,
after a compression method of Gage 1994; on bytes as in Radford et al. 2019 (GPT-2).

Three conventions are shared with the `tokenizers` library, so that both learn the same merges:
 - a pair is counted at every position, also where it overlaps ("aaa" contains the pair (a, a) twice);
 - of equally frequent pairs, the one with the smaller tokens wins;
 - no pair crosses a boundary between pre-tokens.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from course.tokenizers.byte_symbols import SINGLE_BYTES, byte_tokens

Pair = tuple[int, int]
Merge = tuple[bytes, bytes]


def merge_pair(word: Sequence[int], pair: Pair, merged: int) -> list[int]:
    """Replace each occurrence of the pair, from the left: [1, 2, 1, 2, 3], (1, 2) → 9: [9, 9, 3]."""
    result: list[int] = []
    i = 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            result.append(merged)
            i += 2
        else:
            result.append(word[i])
            i += 1
    return result


class PairCounts:
    """How often each pair of adjacent tokens occurs in the corpus, and in which words.

    A merge changes only the words that contain the pair; all other counts stay. That makes 2,000 merges
    affordable: recounting the corpus for each merge would read it 2,000 times.
    """

    def __init__(self, words: Iterable[Sequence[int]], frequencies: Iterable[int]) -> None:
        self.words = [list(word) for word in words]
        self.frequencies = list(frequencies)
        self.counts: Counter[Pair] = Counter()
        self.holders: defaultdict[Pair, set[int]] = defaultdict(set)
        for which, word in enumerate(self.words):
            self._add(which, word)
        self.queue = [(-count, pair) for pair, count in self.counts.items()]
        heapq.heapify(self.queue)

    def _add(self, which: int, word: Sequence[int]) -> None:
        frequency = self.frequencies[which]
        for pair in pairwise(word):
            self.counts[pair] += frequency
            self.holders[pair].add(which)

    def _remove(self, which: int, word: Sequence[int]) -> None:
        frequency = self.frequencies[which]
        for pair in pairwise(word):
            self.counts[pair] -= frequency
            self.holders[pair].discard(which)

    def most_frequent(self) -> Pair | None:
        """The most frequent pair, the smaller one in a tie; None if no pair is left."""
        while self.queue:
            negative_count, pair = heapq.heappop(self.queue)
            count = self.counts[pair]
            if count == -negative_count:
                return pair if count > 0 else None
            if count > 0:  # the entry is out of date: replace it by the true count
                heapq.heappush(self.queue, (-count, pair))
        return None

    def merge(self, pair: Pair, merged: int) -> None:
        """Replace the pair by `merged` in every word that contains it, and update the counts."""
        grown: set[Pair] = set()
        for which in sorted(self.holders[pair]):
            word = self.words[which]
            shorter = merge_pair(word, pair, merged)
            self._remove(which, word)
            self._add(which, shorter)
            self.words[which] = shorter
            grown.update(new for new in pairwise(shorter) if merged in new)
        for new in grown:
            heapq.heappush(self.queue, (-self.counts[new], new))


def learn_merges(word_counts: Mapping[str, int], vocab_size: int) -> list[Merge]:
    """The merges, in the order learned, that grow 256 bytes into `vocab_size` tokens.

    `word_counts` says how often each pre-token occurs. Returns fewer merges if the words run out of pairs.
    Raises ValueError for an empty corpus or a vocabulary of less than 256.
    """
    if vocab_size < len(SINGLE_BYTES):
        raise ValueError(f"expected a vocab_size of at least 256, one per byte; received {vocab_size}")
    if not word_counts:
        raise ValueError("expected a text to learn merges from, but the corpus is empty")
    tokens = list(SINGLE_BYTES)
    token_of = {spelling: token for token, spelling in enumerate(tokens)}
    pairs = PairCounts(map(byte_tokens, word_counts), word_counts.values())
    merges: list[Merge] = []
    while len(tokens) < vocab_size and (pair := pairs.most_frequent()) is not None:
        left, right = tokens[pair[0]], tokens[pair[1]]
        merges.append((left, right))
        if left + right not in token_of:  # "a"+"bc" after "ab"+"c" makes no new token
            token_of[left + right] = len(tokens)
            tokens.append(left + right)
        pairs.merge(pair, token_of[left + right])
    return merges
