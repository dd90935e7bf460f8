"""Batches of windows from one long text, each a function of its step: batch 17 is always the same."""

from __future__ import annotations

from copy import copy

import torch
from torch import Tensor

from course.shapes import Int

N_STEPS_DRAWN = 1000  # at once, so that a GPU seldom waits for numbers from the CPU


class RandomWindows:
    """Windows that begin anywhere in the text: `batches(step)` is (inputs, targets), (B, T) each.

    The targets are the inputs shifted by one. Raises ValueError for a text that is no longer than a window.
    """

    def __init__(self, text: Int[Tensor, " text"], n_positions: int, batch_size: int, seed: int = 0) -> None:
        if len(text) <= n_positions:
            raise ValueError(f"text: expected more than {n_positions} tokens, got {len(text)}")
        self.text, self.n_positions, self.batch_size, self.seed = text, n_positions, batch_size, seed
        self._drawn, self._starts = -1, torch.empty(0, dtype=torch.int64)

    def placed(self, device: torch.device, width_multiple: int = 1) -> RandomWindows:
        """The same batches, made on this device; all are equally wide already."""
        there = copy(self)
        there.text, there._drawn = self.text.to(device), -1
        return there

    def starts(self, block: int) -> Int[Tensor, "steps batch"]:
        """Where the windows of N_STEPS_DRAWN steps begin."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + block)
        shape = (N_STEPS_DRAWN, self.batch_size)
        return torch.randint(len(self.text) - self.n_positions, shape, generator=generator)

    def __call__(self, step: int) -> tuple[Tensor, Tensor]:
        block, position = divmod(step, N_STEPS_DRAWN)
        if block != self._drawn:
            self._drawn, self._starts = block, self.starts(block).to(self.text.device)
        return self.at(self._starts[position])

    def at(self, starts: Int[Tensor, " batch"]) -> tuple[Tensor, Tensor]:
        """Inputs and targets of the windows that begin here."""
        windows = self.text.unfold(0, self.n_positions + 1, 1)[starts]  # (B, T + 1)
        return windows[:, :-1], windows[:, 1:]

    def extremes(self) -> tuple[Tensor, Tensor]:
        """An example of windows with the smallest and the largest token: who reads it can read all."""
        extremes = torch.stack([self.text.argmin(), self.text.argmax()])
        return self.at(extremes.clamp(max=len(self.text) - self.n_positions - 1))
