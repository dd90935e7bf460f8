"""The smallest tokenizer: one character, one token."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from course.tokenizers.tokenizer import token_outside


@dataclass(frozen=True)
class CharacterTokenizer:
    """Each character of the alphabet is a token, numbered in the alphabet's order."""

    alphabet: str

    @classmethod
    def train(cls, text: str) -> CharacterTokenizer:
        """The alphabet of a text: its different characters, sorted."""
        if not text:
            raise ValueError("expected a text to collect characters from, but it is empty")
        return cls("".join(sorted(set(text))))

    @property
    def vocab_size(self) -> int:
        return len(self.alphabet)

    @cached_property
    def index(self) -> dict[str, int]:
        """Each character's token."""
        return {character: token for token, character in enumerate(self.alphabet)}

    def encode(self, text: str) -> list[int]:
        """ "cab" → [2, 0, 1] with the alphabet "abc". Raises ValueError for a character that is not in it."""
        try:
            return [self.index[character] for character in text]
        except KeyError as error:
            raise ValueError(
                f"{error.args[0]!r} is not in the alphabet of {self.vocab_size} characters"
            ) from None

    def decode(self, tokens: Iterable[int]) -> str:
        """[2, 0, 1] → "cab" with the alphabet "abc"."""
        return "".join(self._character(token) for token in tokens)

    def _character(self, token: int) -> str:
        if not 0 <= token < self.vocab_size:
            raise token_outside(token, self.vocab_size)
        return self.alphabet[token]
