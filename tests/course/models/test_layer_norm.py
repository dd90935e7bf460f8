"""Layer normalisation against torch, and what it must not depend on."""

import pytest
import torch
from model_equality import assert_equal, assert_equal_gradients
from torch import nn

from course.models import LayerNorm, RMSNorm
from course.models.torch_weights import copy_from_torch

B, T, D = 3, 5, 8


@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("epsilon", [1e-5, 0.5])
def test_layer_norm_and_its_gradients_equal_torch(precision, is_fused, epsilon):
    theirs = nn.LayerNorm(D, eps=epsilon)
    nn.init.normal_(theirs.weight)
    nn.init.normal_(theirs.bias)
    ours = LayerNorm(D, epsilon, is_fused)
    copy_from_torch(ours, theirs)
    x = (3 * torch.randn(B, T, D) + 2).requires_grad_()
    assert_equal(ours(x), theirs(x))
    assert_equal_gradients(ours(x), [x, ours.gain, ours.bias], theirs(x), [x, theirs.weight, theirs.bias])


def test_rms_norm_and_its_gradients_equal_torch(precision):
    theirs = nn.RMSNorm(D, eps=1e-5)
    nn.init.normal_(theirs.weight)
    ours = RMSNorm(D)
    ours.gain.data.copy_(theirs.weight)
    x = (torch.randn(B, T, D) + 2).requires_grad_()
    assert_equal(ours(x), theirs(x))
    assert_equal_gradients(ours(x), [x, ours.gain], theirs(x), [x, theirs.weight])


@pytest.mark.parametrize("norm", [LayerNorm(D, is_fused=False), LayerNorm(D), RMSNorm(D)])
def test_each_position_is_normalised_alone(norm):
    x = torch.randn(B, T, D)
    changed = x.clone()
    changed[1:] = 100 * torch.randn(B - 1, T, D)
    changed[0, 1:] = 100 * torch.randn(T - 1, D)
    assert norm(changed)[0, 0].equal(norm(x)[0, 0])
