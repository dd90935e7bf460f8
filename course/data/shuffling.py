"""Batches for training, each a function of its step: batch 17 is always the same."""

from __future__ import annotations

import torch
from torch import Tensor

from course.data.vocabulary import Batch


class ShuffledStories:
    """Sequences of unequal length, reshuffled every epoch; the sequences of a batch are about equally long.

    `batches(step)` is (inputs, targets, mask), each (B, T): the targets are the inputs shifted by one, the
    mask is False at padding. Sequences left over at the end of an epoch are not used in that epoch.
    """

    def __init__(self, stories: Batch, batch_size: int, seed: int = 0, n_batches_in_pool: int = 16) -> None:
        if not 1 <= batch_size <= len(stories):
            raise ValueError(
                f"batch_size: expected 1 … {len(stories)} (the number of sequences), got {batch_size}"
            )
        self.stories, self.batch_size, self.seed = stories, batch_size, seed
        self.n_batches_in_pool = n_batches_in_pool
        self.n_batches = len(stories) // batch_size
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)

    def order(self, epoch: int) -> Tensor:
        """(n_batches, B): which sequences form which batch of an epoch."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        shuffled = torch.randperm(len(self.stories), generator=generator)
        pools = shuffled[: self.n_batches * self.batch_size].split(self.batch_size * self.n_batches_in_pool)
        lengths = self.stories.lengths
        # sorted by length within a pool only, so that batches stay random but carry little padding
        by_length = torch.cat([pool[lengths[pool].argsort(stable=True)] for pool in pools])
        return by_length.view(self.n_batches, -1)[torch.randperm(self.n_batches, generator=generator)]

    def __call__(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        epoch, position = divmod(step, self.n_batches)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self.order(epoch)
        return next_token_example(self.stories, self._order[position])


def next_token_example(stories: Batch, chosen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, targets and mask of the chosen sequences, as wide as the longest of them."""
    tokens, mask = stories.tokens[chosen], stories.mask[chosen]
    width = int(mask.sum(dim=1).max())
    return tokens[:, : width - 1], tokens[:, 1:width], mask[:, 1:width]
