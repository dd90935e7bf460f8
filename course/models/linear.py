"""W x + b, the product that takes nearly all of a model's time."""

from __future__ import annotations

from torch import nn
from torch.nn import functional as F

from course.kernels import faster_by
from course.kernels.convolution import is_faster, linear_by_convolution
from course.shapes import Float, Tensor


@faster_by(linear_by_convolution, where=is_faster)
def linear(
    x: Float[Tensor, "*positions d_input"],
    W: Float[Tensor, "d_output d_input"],
    b: Float[Tensor, " d_output"] | None = None,
) -> Float[Tensor, "*positions d_output"]:
    """W x + b at every position."""
    return F.linear(x, W, b)


class Linear(nn.Linear):
    """A trained matrix and bias, applied at every position."""

    def forward(self, x: Float[Tensor, "*positions d_input"]) -> Float[Tensor, "*positions d_output"]:
        return linear(x, self.weight, self.bias)
