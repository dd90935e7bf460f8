"""The interface of every tokenizer of the course."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable


@runtime_checkable
class Tokenizer(Protocol):
    """Text becomes a list of tokens 0 … vocab_size - 1, and tokens become text again."""

    @property
    def vocab_size(self) -> int:
        """How many different tokens there are."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of some tokens."""


def token_outside(token: int, vocab_size: int) -> IndexError:
    """The error for a token that a vocabulary of `vocab_size` does not have."""
    return IndexError(f"expected tokens from 0 to {vocab_size - 1}, received {token}")
