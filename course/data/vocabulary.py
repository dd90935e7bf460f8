"""Words as indices: a vocabulary, and batches of sequences padded to one length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

PAD, BOS, EOS, UNK = "<pad>", "<s>", "</s>", "<unk>"
SPECIAL_TOKENS = (PAD, BOS, EOS, UNK)


class UnknownWord(KeyError):
    """A word is not in the vocabulary, and the vocabulary has no place for unknown words."""

    def __str__(self) -> str:
        return self.args[0]


@dataclass(frozen=True)
class Vocabulary:
    """A fixed list of different words; a word's token is its index in the list.

    The special tokens are ordinary entries spelt <pad>, <s>, </s>, <unk>. Any of them may be absent.
    With <unk>, unknown words share its token; without it, an unknown word raises `UnknownWord`. No word
    is ever dropped silently, because dropped words make perplexities incomparable.
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        repeated = [word for word, count in Counter(self.words).items() if count > 1]
        if repeated:
            raise ValueError(f"expected different words, but {repeated[:3]} occur more than once")

    @classmethod
    def from_sentences(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        special_tokens: Sequence[str] = SPECIAL_TOKENS,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> Vocabulary:
        """Special tokens first, then words by decreasing frequency, equal counts in alphabetical order.

        Raises ValueError for sentences without any word.
        """
        counts = Counter(word for sentence in sentences for word in sentence)
        if not counts:
            raise ValueError("expected sentences with words, but the corpus is empty")
        frequent = {word for word, count in counts.items() if count >= min_count}
        ranked = sorted(frequent.difference(special_tokens), key=lambda word: (-counts[word], word))
        return cls(tuple([*special_tokens, *ranked][:max_size]))

    @cached_property
    def index(self) -> dict[str, int]:
        """Each word's token."""
        return {word: token for token, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.index

    @property
    def pad(self) -> int:
        """The token of <pad>. Raises UnknownWord if there is none."""
        return self._frame(PAD)

    @property
    def bos(self) -> int:
        """The token of <s>. Raises UnknownWord if there is none."""
        return self._frame(BOS)

    @property
    def eos(self) -> int:
        """The token of </s>. Raises UnknownWord if there is none."""
        return self._frame(EOS)

    @property
    def unk(self) -> int | None:
        """The token of <unk>; None if there is none."""
        return self.index.get(UNK)

    def _frame(self, special: str) -> int:
        if special not in self:
            raise UnknownWord(f"{special} was asked for, but this vocabulary has none")
        return self.index[special]

    def token(self, word: str) -> int:
        """The token of a word, or that of <unk>."""
        token = self.index.get(word, self.unk)
        if token is None:
            raise UnknownWord(f"{word!r} is not among the {len(self)} words, and the vocabulary has no {UNK}")
        return token

    def encode(self, words: Iterable[str], *, bos: bool = False, eos: bool = False) -> list[int]:
        """["a", "cat"] → [7, 9]; `bos` puts <s> before them, `eos` puts </s> after them."""
        before, after = [self.bos] if bos else [], [self.eos] if eos else []
        return [*before, *(self.token(word) for word in words), *after]

    def decode(self, tokens: Iterable[int], *, keep_special: bool = False) -> list[str]:
        """[1, 7, 9, 2] → ["a", "cat"]; special tokens are left out unless kept."""
        words = [self.word(int(token)) for token in tokens]
        return words if keep_special else [word for word in words if word not in (PAD, BOS, EOS)]

    def word(self, token: int) -> str:
        """The word of a token."""
        if not 0 <= token < len(self):
            raise IndexError(f"expected a token from 0 to {len(self) - 1}, received {token}")
        return self.words[token]


@dataclass(frozen=True)
class Batch:
    """Padded sequences: tokens (B, T), and a mask (B, T) that is True where a token is real."""

    tokens: Tensor
    mask: Tensor

    @property
    def lengths(self) -> Tensor:
        """Real tokens in each sequence, shape (B,)."""
        return self.mask.sum(dim=1)

    def __len__(self) -> int:
        return len(self.tokens)

    def to(self, device: torch.device) -> Batch:
        """The same sequences on this device."""
        return Batch(self.tokens.to(device), self.mask.to(device))


def pad_sequences(sequences: Sequence[Sequence[int]], pad: int, *, length: int | None = None) -> Batch:
    """Pad shorter sequences at the end with `pad`, to the length of the longest one (or to `length`).

    The mask comes from the lengths, not from comparing tokens with `pad`, so real ends of sentences stay
    visible even if the padding token is also used as </s>.
    """
    if not sequences:
        raise ValueError("expected at least one sequence, received none")
    longest = max(len(sequence) for sequence in sequences)
    width = longest if length is None else length
    if width < longest:
        raise ValueError(f"expected length to be at least {longest}, the longest sequence; received {length}")
    tokens = torch.full((len(sequences), width), pad, dtype=torch.long)
    for row, sequence in zip(tokens, sequences, strict=True):
        row[: len(sequence)] = torch.as_tensor(sequence, dtype=torch.long)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    return Batch(tokens, torch.arange(width) < lengths[:, None])


def batches(
    sequences: Sequence[Sequence[int]],
    batch_size: int,
    pad: int,
    *,
    generator: torch.Generator | None = None,
) -> Iterator[Batch]:
    """All sequences once, `batch_size` at a time; in random order if a generator is given.

    The last batch may be smaller: no sequence is skipped.
    """
    if batch_size < 1:
        raise ValueError(f"expected a batch_size of at least 1, received {batch_size}")
    order = torch.arange(len(sequences))
    if generator is not None:
        order = torch.randperm(len(sequences), generator=generator)
    for start in range(0, len(sequences), batch_size):
        yield pad_sequences([sequences[i] for i in order[start : start + batch_size]], pad)
