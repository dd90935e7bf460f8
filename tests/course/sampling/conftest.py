"""Logits to filter, and shapes that are checked."""

import jaxtyping
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


@pytest.fixture(autouse=True)
def shapes_are_checked():
    """Every call of a function of course.sampling must have the shapes that its signature names."""
    jaxtyping.config.update("jaxtyping_disable", False)
    yield
    jaxtyping.config.update("jaxtyping_disable", True)


@pytest.fixture
def as_students_run_it(shapes_are_checked):
    """Without jaxtyping, as on Colab: the course's own error messages must do the work."""
    jaxtyping.config.update("jaxtyping_disable", True)
