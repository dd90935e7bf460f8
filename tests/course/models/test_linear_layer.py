"""The product behind every layer against torch's, with and without its kernel."""

import pytest
import torch
from model_equality import assert_equal, assert_equal_gradients
from torch import nn
from torch.nn import functional as F

from course.kernels import convolution
from course.kernels.convolution import FEWEST_ROWS, N_IMAGES
from course.models.linear import Linear, linear

D_INPUT, D_OUTPUT = 24, 40


@pytest.mark.parametrize("shape", [(3, 5), (FEWEST_ROWS,), (32, 57), (16, 4, 16), (33, 41)])
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("is_contiguous", [False, True])
def test_values_and_gradients_equal_torch_for_few_and_for_many_positions(
    precision, shape, has_bias, is_contiguous
):
    x = torch.randn(*shape, D_INPUT) / D_INPUT**0.5
    x = (x if is_contiguous else x.transpose(0, -1).contiguous().transpose(0, -1)).requires_grad_()
    W, b = torch.randn(D_OUTPUT, D_INPUT, requires_grad=True), torch.randn(D_OUTPUT, requires_grad=True)
    bias = b if has_bias else None
    wanted = [x, W, b] if has_bias else [x, W]
    assert_equal(linear(x, W, bias), F.linear(x, W, bias))
    assert_equal_gradients(linear(x, W, bias), wanted, F.linear(x, W, bias), wanted)


def test_many_positions_do_take_the_kernel(monkeypatch):
    """Otherwise the test above would compare torch's product with itself."""
    taken = []
    monkeypatch.setattr(convolution, "convolution_may_be_faster", lambda x: taken.append(x.shape) or True)
    linear(torch.randn(N_IMAGES, FEWEST_ROWS // N_IMAGES, D_INPUT), torch.randn(D_OUTPUT, D_INPUT))
    linear(torch.randn(3, 5, D_INPUT), torch.randn(D_OUTPUT, D_INPUT))
    assert taken == [(N_IMAGES, FEWEST_ROWS // N_IMAGES, D_INPUT)]


def test_a_layer_is_drawn_and_saved_as_torch_s():
    torch.manual_seed(1)
    ours = Linear(D_INPUT, D_OUTPUT)
    torch.manual_seed(1)
    theirs = nn.Linear(D_INPUT, D_OUTPUT)
    assert {name: w.tolist() for name, w in ours.state_dict().items()} == {
        name: w.tolist() for name, w in theirs.state_dict().items()
    }
