"""Words and punctuation marks as tokens; a word that is not in the vocabulary becomes <unk>."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from course.data.vocabulary import EOS, UNK, Vocabulary

# A word may hold apostrophes and hyphens inside (don't, well-known); any other mark stands alone.
WORD_OR_MARK = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
NO_SPACE_BEFORE = re.compile(r"(?<!\s)\s+([.,;:!?%)\]}])")
NO_SPACE_AFTER = re.compile(r"([(\[{])\s+")


def split_words(text: str) -> list[str]:
    """ "Don't go, Ada." → ["Don't", "go", ",", "Ada", "."]"""
    return WORD_OR_MARK.findall(text)


def join_words(words: Iterable[str]) -> str:
    """["go", ",", "Ada", "."] → "go, Ada." """
    return NO_SPACE_AFTER.sub(r"\1", NO_SPACE_BEFORE.sub(r"\1", " ".join(words)))


@dataclass(frozen=True)
class WordTokenizer:
    """One token per word. Decoding restores the words, but not the line breaks between them."""

    vocabulary: Vocabulary

    @classmethod
    def train(cls, text: str, *, min_count: int = 1, max_size: int | None = None) -> WordTokenizer:
        """The words of a text that occur at least `min_count` times, at most `max_size` of them in all."""
        return cls(
            Vocabulary.from_sentences(
                [split_words(text)], special_tokens=(EOS, UNK), min_count=min_count, max_size=max_size
            )
        )

    @property
    def vocab_size(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """The tokens of the text's words."""
        return self.vocabulary.encode(split_words(text))

    def decode(self, tokens: Iterable[int]) -> str:
        """The words, separated by single spaces, with none before a comma or a full stop."""
        return join_words(self.vocabulary.decode(tokens))
