"""Updates too small for bfloat16 add up in float32 copies."""

import pytest
import torch
from torch import nn

from course.master_weights import MasterWeights


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1.0)


def test_the_copies_are_the_parameters_before_rounding():
    model = nn.Linear(3, 2)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = MasterWeights(model, sgd)
    for master, parameter, old in zip(optimizer.masters, model.parameters(), before, strict=True):
        assert torch.equal(master, old)
        assert torch.equal(parameter, old.bfloat16())


def test_steps_that_bfloat16_would_lose_add_up():
    model = nn.Linear(1, 1, bias=False)
    nn.init.ones_(model.weight)
    optimizer = MasterWeights(model, sgd)
    for _ in range(100):
        optimizer.zero_grad()
        (model.weight * -0.001).sum().backward()
        optimizer.step()
    assert torch.tensor(1.0).bfloat16() + 0.001 == 1
    assert optimizer.masters[0].item() == pytest.approx(1.1, rel=1e-3)
    assert model.weight.item() == pytest.approx(1.1, abs=0.004)


def test_a_parameter_without_gradient_stays():
    model = nn.Linear(2, 2)
    optimizer = MasterWeights(model, sgd)
    bias = model.bias.clone()
    optimizer.zero_grad()
    model.weight.sum().backward()
    optimizer.step()
    assert torch.equal(model.bias, bias)
