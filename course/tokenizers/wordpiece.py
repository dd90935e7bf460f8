"""WordPiece: the longest matching piece, from left to right; the tokenizer of BERT.

Schuster, Nakajima 2012, "Japanese and Korean voice search" (training by likelihood); Devlin et al. 2019,
"BERT" (the longest match, ## for pieces inside a word). Written to be read: training recounts everything
after each merge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from course.tokenizers.tokenizer import token_outside
from course.tokenizers.words import join_words, split_words

INSIDE = "##"
UNKNOWN = "[UNK]"


def initial_pieces(word: str) -> list[str]:
    """ "cats" → ["c", "##a", "##t", "##s"]"""
    return [word[0], *(INSIDE + character for character in word[1:])]


def merged(left: str, right: str) -> str:
    """ "##a", "##t" → "##at" """
    return left + right.removeprefix(INSIDE)


def best_pair(words: Mapping[str, Sequence[str]], word_counts: Mapping[str, int]) -> tuple[str, str] | None:
    """The adjacent pieces with the largest count(pair) / (count(left) · count(right)).

    Merging them raises the likelihood of a unigram model most: they occur together far more often than by
    chance. BPE would take the largest count(pair). A tie goes to the first pair in alphabetical order; None
    if no pair is left.
    """
    pieces: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for word, spelling in words.items():
        for piece in spelling:
            pieces[piece] += word_counts[word]
        for pair in pairwise(spelling):
            pairs[pair] += word_counts[word]
    if not pairs:
        return None
    # The pair itself breaks ties between equal quotients, so it is the second key.
    return min(pairs, key=lambda pair: (-pairs[pair] / (pieces[pair[0]] * pieces[pair[1]]), pair))


def learn_pieces(word_counts: Mapping[str, int], vocab_size: int) -> list[str]:
    """All single characters, then merged pieces in the order learned, until there are `vocab_size`."""
    words = {word: initial_pieces(word) for word in word_counts}
    pieces = dict.fromkeys(sorted({piece for spelling in words.values() for piece in spelling}))
    if vocab_size < len(pieces):
        raise ValueError(f"vocab_size: expected at least {len(pieces)}, one per character; got {vocab_size}")
    while len(pieces) < vocab_size and (pair := best_pair(words, word_counts)) is not None:
        pieces[merged(*pair)] = None
        words = {word: replace_pair(spelling, pair) for word, spelling in words.items()}
    return list(pieces)


def replace_pair(spelling: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """Merge every occurrence of the pair, from the left."""
    result: list[str] = []
    for piece in spelling:
        if result and (result[-1], piece) == pair:
            result[-1] = merged(*pair)
        else:
            result.append(piece)
    return result


def longest_match(word: str, pieces: Mapping[str, int]) -> list[str] | None:
    """Split off the longest piece that begins the rest of the word, repeatedly; None if no piece matches."""
    found: list[str] = []
    start = 0
    while start < len(word):
        prefix = INSIDE if start else ""
        fitting = (end for end in range(len(word), start, -1) if prefix + word[start:end] in pieces)
        end = next(fitting, None)
        if end is None:
            return None
        found.append(prefix + word[start:end])
        start = end
    return found


@dataclass(frozen=True)
class WordPieceTokenizer:
    """WordPiece with [UNK] as token 0; a word that cannot be spelt with the pieces becomes one [UNK]."""

    pieces: tuple[str, ...]

    @classmethod
    def train(cls, text: str, vocab_size: int) -> WordPieceTokenizer:
        """Learn pieces from the words of a text; `vocab_size` includes [UNK]."""
        word_counts = Counter(split_words(text))
        if not word_counts:
            raise ValueError("expected a text to learn pieces from, but the corpus is empty")
        return cls((UNKNOWN, *learn_pieces(word_counts, vocab_size - 1)))

    @property
    def vocab_size(self) -> int:
        return len(self.pieces)

    @cached_property
    def index(self) -> dict[str, int]:
        """Each piece's token."""
        return {piece: token for token, piece in enumerate(self.pieces)}

    def encode(self, text: str) -> list[int]:
        """The tokens of the text's words."""
        tokens: list[int] = []
        for word in split_words(text):
            tokens += [self.index[piece] for piece in longest_match(word, self.index) or [UNKNOWN]]
        return tokens

    def decode(self, tokens: Iterable[int]) -> str:
        """Words with single spaces; pieces that begin with ## are joined to the one before."""
        words: list[str] = []
        for token in tokens:
            if not 0 <= token < self.vocab_size:
                raise token_outside(token, self.vocab_size)
            piece = self.pieces[token]
            if piece.startswith(INSIDE) and words:
                words[-1] += piece.removeprefix(INSIDE)
            else:
                words.append(piece)
        return join_words(words)
