"""Logits to filter."""

import pytest
import torch
from torch import Tensor


@pytest.fixture
def logits() -> Tensor:
    """Shape (7, 23), float64: ordinary rows, a shifted one, a very sharp one, a nearly flat one."""
    rows = 2 * torch.randn(7, 23, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    rows[1] += 1000
    rows[2] -= 1000
    rows[3] *= 20
    rows[4] /= 100
    return rows
