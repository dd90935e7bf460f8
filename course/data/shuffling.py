"""Batches for training, each a function of its step: batch 17 is always the same."""

from __future__ import annotations

from copy import copy

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
        self.lengths = stories.lengths  # stays on the CPU, where widths are decided
        self.width_multiple = 1
        self._epoch, self._order, self._longest = -1, torch.empty(0, dtype=torch.int64), [0]

    def placed(self, device: torch.device, width_multiple: int = 1) -> ShuffledStories:
        """The same batches, made on this device; T is rounded up to a multiple, as far as columns go."""
        there = copy(self)
        there.stories, there.width_multiple, there._epoch = self.stories.to(device), width_multiple, -1
        return there

    def order(self, epoch: int) -> Tensor:
        """(n_batches, B): which sequences form which batch of an epoch."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        shuffled = torch.randperm(len(self.stories), generator=generator)
        pools = shuffled[: self.n_batches * self.batch_size].split(self.batch_size * self.n_batches_in_pool)
        # sorted by length within a pool only, so that batches stay random but carry little padding
        by_length = torch.cat([pool[self.lengths[pool].argsort(stable=True)] for pool in pools])
        return by_length.view(self.n_batches, -1)[torch.randperm(self.n_batches, generator=generator)]

    def __call__(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        epoch, position = divmod(step, self.n_batches)
        if epoch != self._epoch:
            order = self.order(epoch)
            self._epoch, self._order = epoch, order.to(self.stories.tokens.device)
            self._longest = self.lengths[order].amax(dim=1).tolist()
        most = self.stories.tokens.shape[1] - 1  # inputs are one token shorter than sequences
        n_inputs = rounded_up(self._longest[position] - 1, self.width_multiple, most)
        return next_token_example(self.stories, self._order[position], n_inputs + 1)

    def extremes(self) -> tuple[Tensor, Tensor, Tensor]:
        """An example of two sequences with the smallest and the largest token: who reads it can read all."""
        return next_token_example(self.stories, rows_with_extremes(self.stories.tokens))


def rounded_up(n_columns: int, multiple: int, most: int) -> int:
    """The next number that the multiple divides, but no more than `most`."""
    return min(-(-n_columns // multiple) * multiple, most)


def rows_with_extremes(tokens: Tensor) -> Tensor:
    """Which rows of (N, T) hold the smallest and the largest token, (2,)."""
    return torch.stack([tokens.amin(dim=1).argmin(), tokens.amax(dim=1).argmax()])


def next_token_example(
    stories: Batch, chosen: Tensor, width: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, targets and mask of the chosen sequences, by default as wide as the longest of them."""
    tokens, mask = stories.tokens[chosen], stories.mask[chosen]
    width = int(mask.sum(dim=1).max()) if width is None else width
    return tokens[:, : width - 1], tokens[:, 1:width], mask[:, 1:width]
