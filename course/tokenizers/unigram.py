"""Unigram: the most probable segmentation of a text into subwords (*pieces*); the tokenizer of SentencePiece.

Kudo 2018, "Subword regularization", section 3.2. `unigram_cuts` finds the best segmentation (*cut*),
`unigram_training` learns the pieces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from course.tokenizers.tokenizer import token_outside
from course.tokenizers.unigram_cuts import Pieces, best_cut
from course.tokenizers.unigram_training import learn_unigrams

SPACE = "▁"  # written for a space, so that decoding only has to join the pieces
UNKNOWN = "<unk>"


def split_at_spaces(text: str) -> list[str]:
    """ "the cat" → ["▁the", "▁cat"]: each word with a space in front of it, even the first."""
    return [SPACE + word for word in text.replace(SPACE, " ").split(" ")]


@dataclass(frozen=True)
class UnigramTokenizer:
    """Pieces with their log-probabilities; token 0 is <unk>, the others are sorted by falling probability."""

    pieces: tuple[tuple[str, float], ...]

    @classmethod
    def train(cls, text: str, vocab_size: int, *, n_seed: int | None = None) -> UnigramTokenizer:
        """Learn `vocab_size` pieces, including <unk>, from `n_seed` candidates (default: 5 · vocab_size)."""
        if not text.strip():
            raise ValueError("expected a text to learn pieces from, but the corpus is empty")
        word_counts = Counter(split_at_spaces(text))
        log_probs = learn_unigrams(word_counts, vocab_size - 1, n_seed=n_seed or 5 * vocab_size)
        return cls(tuple(sorted(log_probs.items(), key=lambda item: (-item[1], item[0]))))

    @property
    def vocab_size(self) -> int:
        return 1 + len(self.pieces)

    @cached_property
    def index(self) -> dict[str, int]:
        """Each piece's token."""
        return {piece: token for token, (piece, _) in enumerate(self.pieces, start=1)}

    def encode(self, text: str) -> list[int]:
        """The tokens of the most probable segmentation, word by word."""
        words, pieces = split_at_spaces(text), Pieces(dict(self.pieces))
        cuts = {word: best_cut(word, pieces) for word in dict.fromkeys(words)}
        return [self.index.get(piece, 0) for word in words for piece in cuts[word]]

    def decode(self, tokens: Iterable[int]) -> str:
        """The pieces joined, ▁ as spaces."""
        return "".join(self._piece(token) for token in tokens).replace(SPACE, " ").removeprefix(" ")

    def _piece(self, token: int) -> str:
        if not 0 <= token < self.vocab_size:
            raise token_outside(token, self.vocab_size)
        return UNKNOWN if token == 0 else self.pieces[token - 1][0]
