"""Several matrices applied to one input by one product: a GPU is faster with one large matrix than three."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

from course.shapes import Tensor


def is_one_input_on_gpu(maps: Sequence[nn.Module], inputs: Sequence[Tensor]) -> bool:
    """Whether all maps add a bias and read the same tensor, on a GPU."""
    first, *others = inputs
    has_biases = all(getattr(each, "bias", None) is not None for each in maps)
    return first.is_cuda and has_biases and all(each is first for each in others)


def in_one_product(maps: Sequence[nn.Linear], inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """What each map makes of the first input, which is that of all, (…, width of the map) each."""
    W = torch.cat([each.weight for each in maps])  # (all widths together, d_input)
    b = torch.cat([each.bias for each in maps])
    return F.linear(inputs[0], W, b).split([each.out_features for each in maps], dim=-1)
