"""Several matrices applied to one input by one product, which keeps a GPU busier than several smaller ones."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

from course.shapes import Tensor


def is_one_input_on_gpu(maps: Sequence[nn.Linear], inputs: Sequence[Tensor]) -> bool:
    """Whether all maps are plain ones with a bias, and read the same tensor, on a GPU."""
    first, *others = inputs
    return (
        first.is_cuda
        and all(each is first for each in others)
        and all(each.bias is not None for each in maps)
    )


def in_one_product(maps: Sequence[nn.Linear], inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """What each map makes of the first input, which is that of all, (…, width of the map) each."""
    W = torch.cat([each.weight for each in maps])  # (all widths together, d_input)
    b = torch.cat([each.bias for each in maps])
    return F.linear(inputs[0], W, b).split([each.out_features for each in maps], dim=-1)
