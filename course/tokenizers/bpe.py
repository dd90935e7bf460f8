"""Byte-pair encoding: any text can be encoded, and decoding its tokens gives exactly that text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from course.tokenizers.bpe_training import Merge, learn_merges, merge_pair
from course.tokenizers.byte_symbols import SINGLE_BYTES
from course.tokenizers.pre_tokens import split_pre_tokens
from course.tokenizers.tokenizer import token_outside


def encode_word(word: Sequence[int], merges: Mapping[tuple[int, int], tuple[int, int]]) -> list[int]:
    """Apply the applicable merge that was learned earliest, everywhere in the word, until none applies.

    `merges` maps a pair to its rank (when it was learned) and its token. The order matters: with "bc"
    learned before "ab", the word "abc" becomes a·bc, although "ab" comes first in the text.
    """
    word = list(word)
    while candidates := [pair for pair in pairwise(word) if pair in merges]:
        earliest = min(candidates, key=lambda pair: merges[pair][0])
        word = merge_pair(word, earliest, merges[earliest][1])
    return word


@dataclass(frozen=True)
class BytePairTokenizer:
    """A tokenizer of 256 bytes, then one token per merge in the order learned, then the special tokens.

    Special tokens are found in the text before anything else and never split. With GPT-2's merges and the
    special token <|endoftext|>, the tokens have GPT-2's own numbers. A tokenizer that numbers its tokens in
    another order gives a `vocabulary`; bytes that are missing from it are left out of every text.
    """

    merges: tuple[Merge, ...]
    special_tokens: tuple[str, ...] = ()
    pre_tokens: Callable[[str], list[str]] = split_pre_tokens
    vocabulary: tuple[bytes, ...] | None = None  # the bytes of every token, special ones included

    def __post_init__(self) -> None:
        known = set(SINGLE_BYTES)
        for rank, (left, right) in enumerate(self.merges):
            if left not in known or right not in known:
                raise ValueError(f"merge {rank} joins {left!r} and {right!r}, which are not both tokens yet")
            known.add(left + right)
        if "" in self.special_tokens or len(set(self.special_tokens)) < len(self.special_tokens):
            raise ValueError(f"expected different, non-empty special tokens, received {self.special_tokens}")

    @classmethod
    def train(cls, text: str, vocab_size: int, special_tokens: Sequence[str] = ()) -> BytePairTokenizer:
        """Learn merges from a text until there are `vocab_size` tokens, including the special ones."""
        ordinary = [part for part in split_special(text, special_tokens) if part not in special_tokens]
        word_counts = Counter(word for part in ordinary for word in split_pre_tokens(part))
        merges = learn_merges(word_counts, vocab_size - len(special_tokens))
        return cls(tuple(merges), tuple(special_tokens))

    @cached_property
    def spellings(self) -> tuple[bytes, ...]:
        """The bytes of each token."""
        if self.vocabulary is not None:
            return self.vocabulary
        # If two merges give the same bytes, a dictionary keeps the first; it also keeps the order.
        ordinary = dict.fromkeys([*SINGLE_BYTES, *(left + right for left, right in self.merges)])
        return (*ordinary, *(special.encode() for special in self.special_tokens))

    @property
    def vocab_size(self) -> int:
        return len(self.spellings)

    @cached_property
    def special(self) -> dict[str, int]:
        """The token of each special token."""
        # counted from the end: a special token may be spelt like an ordinary one
        last = {spelling: token for token, spelling in enumerate(self.spellings)}
        return {word: last[word.encode()] for word in self.special_tokens}

    @cached_property
    def ordinary(self) -> dict[bytes, int]:
        """The token of each spelling that is not special."""
        special = set(self.special.values())
        return {spelling: token for token, spelling in enumerate(self.spellings) if token not in special}

    @cached_property
    def ranks(self) -> dict[tuple[int, int], tuple[int, int]]:
        """(left token, right token) → (rank, merged token)."""
        token_of = self.ordinary
        return {
            (token_of[left], token_of[right]): (rank, token_of[left + right])
            for rank, (left, right) in enumerate(self.merges)
        }

    @cached_property
    def byte_tokens(self) -> dict[int, int]:
        """The token of each single byte."""
        return {byte[0]: self.ordinary[byte] for byte in SINGLE_BYTES if byte in self.ordinary}

    def encode(self, text: str) -> list[int]:
        """The tokens of a text: special tokens stay whole, everything else is merged within pre-tokens."""
        seen: dict[str, list[int]] = {special: [token] for special, token in self.special.items()}
        tokens: list[int] = []
        for part in split_special(text, self.special_tokens):
            for word in [part] if part in self.special else self.pre_tokens(part):
                if word not in seen:
                    known = [self.byte_tokens[byte] for byte in word.encode() if byte in self.byte_tokens]
                    seen[word] = encode_word(known, self.ranks)
                tokens += seen[word]
        return tokens

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of some tokens. Bytes that are not UTF-8 (half a character, say) become U+FFFD.

        All bytes are joined before they are decoded as UTF-8, because a character may span two tokens.
        """
        return b"".join(self.spelling(token) for token in tokens).decode(errors="replace")

    def spelling(self, token: int) -> bytes:
        """The bytes of one token."""
        if not 0 <= token < self.vocab_size:
            raise token_outside(token, self.vocab_size)
        return self.spellings[token]


def split_special(text: str, special_tokens: Sequence[str]) -> list[str]:
    """ "a<end>b" → ["a", "<end>", "b"] for the special token <end>; if two match, the longer one."""
    if not special_tokens:
        return [text]
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return re.split(f"({'|'.join(map(re.escape, longest_first))})", text)
