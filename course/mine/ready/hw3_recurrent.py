"""Ready-made parts of homework 3: the LSTM's step, and gradient clipping."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

__all__ = ["LSTMCell", "clipped"]


class LSTMCell(nn.Module):
    """As in exercise 16, by PyTorch's cell."""

    def __init__(self, d_input: int, d_hidden: int) -> None:
        super().__init__()
        for name, size in (
            ("W", (4 * d_hidden, d_input)),
            ("U", (4 * d_hidden, d_hidden)),
            ("b", (4 * d_hidden,)),
        ):
            self.register_parameter(name, nn.Parameter(0.1 * torch.randn(size, dtype=torch.float64)))

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        W, U, b = self.parameters()
        return torch.lstm_cell(x, state, W, U, b, torch.zeros_like(b))


def clipped(gradients: Mapping[str, Tensor], threshold: float) -> dict[str, Tensor]:
    """As in exercise 9."""
    length = float(nn.utils.get_total_norm(list(gradients.values())))
    return {name: gradient * threshold / max(length, threshold) for name, gradient in gradients.items()}
