"""All steps of a recurrent layer in one call, by the kernels behind nn.RNN, nn.LSTM and nn.GRU.

On a GPU those are cuDNN's: step by step, Python would launch a dozen small kernels for every word. Our
weights are laid out as theirs, except that they have two biases, which are always added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch
from torch import _VF, nn

from course.shapes import Float, Tensor

State = tuple[Tensor, ...]


if TYPE_CHECKING:

    class Cell(Protocol):
        """The part of a recurrent cell that the kernels use."""

        @property
        def kernel(self) -> str:
            """Which of PyTorch's layers computes the same: "rnn_tanh", "lstm" or "gru"."""

        @property
        def W(self) -> Tensor:
            """(G·D, d_input) for G gates."""

        @property
        def U(self) -> Tensor:
            """(G·D, D)"""

        def two_biases(self) -> tuple[Tensor, Tensor]:
            """What PyTorch adds to W x and to U h, (G·D) each."""

else:
    Cell = nn.Module  # whose parameters no protocol sees while a program runs


def is_on_gpu(cell: Cell, x: Tensor, state: State) -> bool:
    """Whether there is a GPU, and the cell's own class names its kernel; a subclass may step otherwise."""
    return x.is_cuda and "kernel" in vars(type(cell))


def recurrence_on_gpu(
    cell: Cell, x: Float[Tensor, "time batch d_input"], state: State
) -> tuple[Float[Tensor, "time batch d_hidden"], State]:
    """The hidden states of all steps, and the whole state after the last one."""
    with torch.autocast(x.device.type, enabled=False):  # float32, as the weights
        x, *first = (part.to(cell.U.dtype) for part in (x, *state))
        first = [part[None].contiguous() for part in first]  # one layer: (1, B, D)
        given = first if cell.kernel == "lstm" else first[0]
        settings = (True, 1, 0.0, torch.is_grad_enabled(), False, False)  # biases, layers, dropout, …
        hidden, *last = getattr(_VF, cell.kernel)(x, given, in_one_piece(cell), *settings)
    return hidden, tuple(part[0] for part in last)


def in_one_piece(cell: Cell) -> list[Tensor]:
    """W, U and the biases as parts of one piece of memory, from which the kernels read them."""
    parts = [cell.W, cell.U, *cell.two_biases()]
    whole = torch.cat([part.flatten() for part in parts])
    pieces = whole.split([part.numel() for part in parts])
    return [piece.view_as(part) for piece, part in zip(pieces, parts, strict=True)]
