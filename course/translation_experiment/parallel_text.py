"""Sentences with their translations as training batches, and the loss of a translator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from course.data.shuffling import ShuffledStories
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

    def example(self, chosen: Tensor) -> Example:
        """(source, inputs, targets, mask) of the chosen pairs, as wide as the longest of them."""
        S, T = int(self.source.lengths[chosen].max()), int(self.target.lengths[chosen].max())
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
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)

    def __call__(self, step: int) -> Example:
        epoch, position = divmod(step, self.targets.n_batches)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self.targets.order(epoch)
        return self.text.example(self._order[position])
