"""W x + b, the product that nearly all time goes into: the numbers of `torch.nn.Linear`, sometimes sooner.

A matrix applied to every position is a convolution whose window is one position wide. On processors whose
widest instructions PyTorch's matrix product (MKL) leaves unused (AMD's), its convolution (oneDNN) uses them,
and a training step on the CPU takes about two thirds of the time. On a GPU, in other precisions, for few
positions, or without those libraries, the ordinary product is taken.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.shapes import Float, Tensor

N_IMAGES = 16  # PyTorch takes its fast path for a window of one from this many images on
FEWEST_ROWS = 1024  # below, laying out the images costs more than it saves


def linear(
    x: Float[Tensor, "*positions d_input"],
    W: Float[Tensor, "d_output d_input"],
    b: Float[Tensor, " d_output"] | None = None,
) -> Float[Tensor, "*positions d_output"]:
    """W x + b at every position."""
    n_rows = x.numel() // x.shape[-1]
    if n_rows < FEWEST_ROWS or n_rows % N_IMAGES or not convolution_may_be_faster(x):
        return F.linear(x, W, b)
    images = x.reshape(N_IMAGES, 1, -1, x.shape[-1]).permute(0, 3, 1, 2)  # (16, d_input, 1, rows / 16)
    images = F.conv2d(images, W[:, :, None, None], b)  # (16, d_output, 1, rows / 16)
    return images.permute(0, 2, 3, 1).reshape(*x.shape[:-1], -1)


def convolution_may_be_faster(x: Tensor) -> bool:
    """Full precision, on a CPU for which PyTorch was built with both libraries."""
    return (
        x.device.type == "cpu"
        and x.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
        and torch.backends.mkl.is_available()
        and torch.backends.mkldnn.is_available()
    )


class Linear(nn.Linear):
    """A trained matrix and bias, applied at every position."""

    def forward(self, x: Float[Tensor, "*positions d_input"]) -> Float[Tensor, "*positions d_output"]:
        return linear(x, self.weight, self.bias)
