"""Weights in 4 or 8 bits: blocks of 32 weights that share a scale, as GGUF files store them.

    Q8_0    a scale d (float16), 32 integers q from −128 to 127              w = d q         34 bytes
    Q4_1    a scale d and a minimum m (float16), 32 integers q from 0 to 15  w = d q + m     20 bytes

The rounding error of a weight is at most half a step, d/2. Block formats are those of ggml (ggml-common.h).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from course.shapes import Float, Int, Tensor

N_WEIGHTS = 32  # in a block

Blocks = Int[Tensor, "blocks bytes"]
Weights = Float[Tensor, "blocks weights"]


@dataclass(frozen=True)
class BlockFormat:
    """How many weights a block holds in how many bytes, and how they are read."""

    n_weights: int
    n_bytes: int
    dequantise: Callable[[Blocks], Weights]


def from_q8_0(blocks: Blocks) -> Weights:
    """w = d q, from blocks of 34 bytes: d, then the 32 integers."""
    scale = as_half(blocks[:, :2])  # (blocks, 1)
    return blocks[:, 2:].view(torch.int8).float().mul_(scale)  # (blocks, 32)


def from_q4_1(blocks: Blocks) -> Weights:
    """w = d q + m, from blocks of 20 bytes: d, m, then 16 bytes that hold two integers each.

    The low four bits of the 16 bytes are weights 0 … 15 of the block, the high four bits weights 16 … 31.
    """
    scale, minimum = as_half(blocks[:, :4]).split(1, dim=1)  # (blocks, 1) each
    pairs = blocks[:, 4:].contiguous()  # (blocks, 16)
    integers = torch.stack([pairs & 15, pairs >> 4], dim=1).flatten(start_dim=1)  # (blocks, 32)
    return integers.float().mul_(scale).add_(minimum)


def from_f32(blocks: Blocks) -> Weights:
    """Weights that are not quantised."""
    return blocks.clone().view(torch.float32)


def from_f16(blocks: Blocks) -> Weights:
    """Weights that are not quantised, in half precision."""
    return as_half(blocks)


def as_half(raw: Blocks) -> Weights:
    """Two bytes after two read as float16."""
    return raw.clone(memory_format=torch.contiguous_format).view(torch.float16).float()


# By their numbers in a file.
FORMATS = {
    0: BlockFormat(1, 4, from_f32),
    1: BlockFormat(1, 2, from_f16),
    3: BlockFormat(N_WEIGHTS, 20, from_q4_1),
    8: BlockFormat(N_WEIGHTS, 34, from_q8_0),
}
