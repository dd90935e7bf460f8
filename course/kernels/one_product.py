"""Queries, keys and values by one product: a GPU is faster with one large matrix than with three."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch
from torch import nn
from torch.nn import functional as F

from course.shapes import Float, Tensor

Heads = Float[Tensor, "batch heads time d_head"]


if TYPE_CHECKING:

    class Projections(Protocol):
        """The three maps of an attention layer, and into how many heads their results are cut."""

        n_heads: int
        W_query: nn.Linear
        W_key: nn.Linear
        W_value: nn.Linear

else:
    Projections = nn.Module  # whose parameters no protocol sees while a program runs


def heads_in_one_product(
    layer: Projections, query: Float[Tensor, "batch time d_model"], key: Tensor, value: Tensor
) -> tuple[Heads, Heads, Heads]:
    """The heads' queries, keys and values of a sequence that attends to itself: all three read `query`."""
    maps = (layer.W_query, layer.W_key, layer.W_value)
    W = torch.cat([each.weight for each in maps])  # (3D, D)
    b = torch.cat([each.bias for each in maps])
    B, T, _ = query.shape
    split = F.linear(query, W, b).view(B, T, 3, layer.n_heads, -1)  # (B, T, 3, H, d_k)
    q, k, v = split.permute(2, 0, 3, 1, 4)  # (B, H, T, d_k) each
    return q, k, v
