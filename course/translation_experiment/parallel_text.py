"""Sentences with their translations as training batches, and the loss of a translator."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from course.data.shuffling import ShuffledStories, rounded_up, rows_with_extremes
from course.data.vocabulary import Batch, Vocabulary, pad_sequences
from course.evaluation import target_nll
from course.training import Example

WordPair = tuple[Sequence[str], Sequence[str]]  # a source and its translation, split into words


@dataclass(frozen=True)
class ParallelText:
    """Sources (N, S) and their translations (N, T) between <s> and </s>; both padded."""

    source: Batch
    target: Batch

    def __len__(self) -> int:
        return len(self.source)

    def to(self, device: torch.device) -> ParallelText:
        """The same sentences on this device."""
        return ParallelText(self.source.to(device), self.target.to(device))

    def example(self, chosen: Tensor, widths: tuple[int, int] | None = None) -> Example:
        """(source, inputs, targets, mask) of the chosen pairs, by default as wide as the longest of them."""
        if widths is None:
            widths = int(self.source.lengths[chosen].max()), int(self.target.lengths[chosen].max())
        S, T = widths
        tokens, mask = self.target.tokens[chosen], self.target.mask[chosen]
        return self.source.tokens[chosen, :S], tokens[:, : T - 1], tokens[:, 1:T], mask[:, 1:T]


def parallel_text(
    pairs: Sequence[WordPair], source_vocabulary: Vocabulary, target_vocabulary: Vocabulary
) -> ParallelText:
    """Encode pairs of sentences that have been split into words."""
    sources = [source_vocabulary.encode(source) for source, _ in pairs]
    targets = [target_vocabulary.encode(target, bos=True, eos=True) for _, target in pairs]
    return ParallelText(
        pad_sequences(sources, source_vocabulary.pad), pad_sequences(targets, target_vocabulary.pad)
    )


def teacher_forcing_loss(model: nn.Module, example: Example) -> Tensor:
    """Mean negative log-probability of each target word, given the right words before it."""
    source, inputs, targets, mask = example
    losses = target_nll(model(source, inputs), targets)  # (B, T)
    return (losses * mask).sum() / mask.sum()


class ShuffledPairs:
    """Batches of pairs, each a function of its step; the translations of a batch are about equally long."""

    def __init__(self, text: ParallelText, batch_size: int, seed: int = 0) -> None:
        self.text = text
        self.targets = ShuffledStories(text.target, batch_size, seed, n_batches_in_pool=32)
        self.source_lengths = text.source.lengths  # stay on the CPU, where widths are decided
        self.width_multiple = 1
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)
        self._widths: list[tuple[int, int]] = []

    def placed(self, device: torch.device, width_multiple: int = 1) -> ShuffledPairs:
        """The same batches, made on this device; S and T rounded up to multiples, as far as columns go."""
        there = copy(self)
        there.text, there.width_multiple, there._epoch = self.text.to(device), width_multiple, -1
        return there

    def __call__(self, step: int) -> Example:
        epoch, position = divmod(step, self.targets.n_batches)
        if epoch != self._epoch:
            order = self.targets.order(epoch)
            self._epoch, self._order = epoch, order.to(self.text.source.tokens.device)
            self._widths = self.widths(order)
        return self.text.example(self._order[position], self._widths[position])

    def widths(self, order: Tensor) -> list[tuple[int, int]]:
        """The columns of source and target in every batch of an epoch."""
        both = (self.source_lengths, self.targets.lengths)
        S, T = (lengths[order].amax(dim=1).tolist() for lengths in both)
        most_S, most_T = (side.tokens.shape[1] for side in (self.text.source, self.text.target))
        return [
            (
                rounded_up(longest_source, self.width_multiple, most_S),
                1 + rounded_up(longest_target - 1, self.width_multiple, most_T - 1),
            )
            for longest_source, longest_target in zip(S, T, strict=True)
        ]

    def extremes(self) -> Example:
        """An example of pairs with the smallest and largest tokens of both sides: who reads it reads all."""
        sides = (self.text.source.tokens, self.text.target.tokens)
        return self.text.example(torch.cat([rows_with_extremes(tokens) for tokens in sides]))
