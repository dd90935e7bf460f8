"""The race's optimizers are torch's, step by step, and what it says of a valley is so."""

import json

import pytest
import torch
from in_node import evaluate, needs_node

from course import figures

H = torch.tensor([[1.0, 0.0], [0.0, 18.0]], dtype=torch.float64)
START = torch.tensor([-2.5, 1.5], dtype=torch.float64)
KNOBS = {"rate": 0.03, "momentum": 0.8, "adamRate": 0.11, "beta1": 0.7, "beta2": 0.95}


def by_torch(make, noise) -> torch.Tensor:
    theta = START.clone().requires_grad_()
    optimizer, path = make([theta]), [START]
    for drawn in noise:
        theta.grad = H @ theta.detach() + 0.6 * drawn
        optimizer.step()
        path.append(theta.detach().clone())
    return torch.stack(path)


@needs_node
def test_every_step_of_the_three_is_that_of_torchs_optimizer(tmp_path):
    figure = figures.optimizer_race(H, START)
    noise = torch.tensor(figure.data["noise"], dtype=torch.float64)[:17]
    knobs = json.dumps(KNOBS | {"start": START.tolist(), "steps": 17, "sigma": 0.6})
    found = evaluate(figure, f"figure.race(data, {knobs})", tmp_path)
    makers = {
        "sgd": lambda theta: torch.optim.SGD(theta, lr=0.03),
        "momentum": lambda theta: torch.optim.SGD(theta, lr=0.03, momentum=0.8),
        "adam": lambda theta: torch.optim.Adam(theta, lr=0.11, betas=(0.7, 0.95)),
    }
    for name, make in makers.items():
        assert torch.allclose(torch.tensor(found[name]).double(), by_torch(make, noise), atol=1e-6), name


@needs_node
def test_sgd_diverges_just_above_two_over_the_largest_curvature_and_not_just_below(tmp_path):
    figure = figures.optimizer_race(H, START)
    knobs = json.dumps(KNOBS | {"start": START.tolist(), "steps": 60, "sigma": 0})
    last = f"(rate) => Math.abs(figure.race(data, {{...{knobs}, rate}}).sgd.at(-1)[1])"
    lengths = evaluate(figure, f"[0.98 * 2 / 18, 1.02 * 2 / 18].map({last})", tmp_path)
    assert lengths[0] < abs(START[1].item()) < lengths[1]


@needs_node
def test_a_turned_valley_has_the_same_curvatures_in_turned_directions(tmp_path):
    figure = figures.optimizer_race(H, START)
    matrix = evaluate(figure, "figure.turned(data.H, 30)", tmp_path)
    radians = torch.tensor(torch.pi / 6, dtype=torch.float64)
    R = torch.stack(
        [torch.stack([radians.cos(), -radians.sin()]), torch.stack([radians.sin(), radians.cos()])]
    )
    assert torch.allclose(torch.tensor(matrix).double(), R @ H @ R.T, atol=1e-6)
    found = evaluate(figure, "figure.curvatures(figure.turned(data.H, 30))", tmp_path)
    assert found["small"] == pytest.approx(1.0)
    assert found["large"] == pytest.approx(18.0)
    assert found["angle"] % 180 == pytest.approx(30.0)


def test_a_saddle_and_a_start_at_the_lowest_point_are_refused():
    with pytest.raises(ValueError, match="two positive eigenvalues"):
        figures.optimizer_race(torch.diag(torch.tensor([1.0, -1.0])), START)
    with pytest.raises(ValueError, match="not the minimum 0"):
        figures.optimizer_race(H, torch.zeros(2))
