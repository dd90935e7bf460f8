"""W x + b as a convolution: `torch.nn.functional.linear` up to rounding, and faster on some CPUs.

A matrix applied to every position is a convolution whose window is one position wide. On processors whose
widest instructions PyTorch's matrix product (MKL) does not use (AMD's), its convolution (oneDNN) does, and a
training step on the CPU takes about two thirds of the time. On a GPU, in other precisions, for few positions,
or without those libraries, the ordinary product is used.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.shapes import Float, Tensor

N_IMAGES = 16  # from this many images on, PyTorch takes its fast path for a window of one
FEWEST_ROWS = 1024  # below, laying out the images costs more than it saves


def linear_by_convolution(
    x: Float[Tensor, "*positions d_input"],
    W: Float[Tensor, "d_output d_input"],
    b: Float[Tensor, " d_output"] | None = None,
) -> Float[Tensor, "*positions d_output"]:
    """W x + b at every position; their number must be divisible by N_IMAGES."""
    images = x.reshape(N_IMAGES, 1, -1, x.shape[-1]).permute(0, 3, 1, 2)  # (16, d_input, 1, rows / 16)
    images = F.conv2d(images, W[:, :, None, None], b)  # (16, d_output, 1, rows / 16)
    return images.permute(0, 2, 3, 1).reshape(*x.shape[:-1], -1)


def is_faster(x: Tensor, W: Tensor, b: Tensor | None = None) -> bool:
    """Whether there are enough positions, and their number is divisible by N_IMAGES."""
    n_rows = x.numel() // x.shape[-1]
    return n_rows >= FEWEST_ROWS and n_rows % N_IMAGES == 0 and convolution_may_be_faster(x)


def convolution_may_be_faster(x: Tensor) -> bool:
    """Whether x has full precision and is on a CPU for which PyTorch was built with both libraries."""
    return (
        x.device.type == "cpu"
        and x.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
        and torch.backends.mkl.is_available()
        and torch.backends.mkldnn.is_available()
    )
