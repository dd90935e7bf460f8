"""The tape's gradients must be torch's, and its two mistakes must be the mistakes they claim to be."""

import pytest
import torch
from in_node import call, needs_node
from torch.nn.functional import cross_entropy

from course import figures
from course.figures.tape import by_autograd

X = torch.tensor([1.5, -0.7], dtype=torch.float64)
INPUTS = {"x1": 1.5, "x2": -0.7, "w1": 0.4, "w2": 0.9}
SOFTMAX = {
    **INPUTS,
    "z1": ("mul", "w1", "x1"),
    "z2": ("mul", "w2", "x2"),
    "e1": ("exp", "z1"),
    "e2": ("exp", "z2"),
    "s": ("add", "e1", "e2"),
    "p1": ("div", "e1", "s"),
    "p2": ("div", "e2", "s"),
    "L": ("nlog", "p1"),
}


def weight(value):
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


@needs_node
def test_the_gradients_are_those_of_cross_entropy():
    w, names = weight([0.4, 0.9]), list(SOFTMAX)
    logits = w * X
    (expected,) = torch.autograd.grad(cross_entropy(logits[None], torch.tensor([0])), w)
    result = call("tape", "run", figures.tape(SOFTMAX).data["nodes"])
    found = [result["grads"][names.index(name)] for name in ("w1", "w2")]
    assert found == pytest.approx(expected.tolist())
    p_minus_y = (logits.softmax(0) - torch.tensor([1.0, 0.0])).tolist()
    assert [result["grads"][names.index(name)] for name in ("z1", "z2")] == pytest.approx(p_minus_y)


@needs_node
def test_an_input_used_twice_collects_both_parts_unless_they_overwrite():
    w, names = weight(0.4), list(SOFTMAX)
    (expected,) = torch.autograd.grad(cross_entropy((w * X)[None], torch.tensor([0])), w)
    nodes = call("tape", "tied", figures.tape(SOFTMAX).data["nodes"], [names.index("w2"), names.index("w1")])
    assert call("tape", "run", nodes)["grads"][names.index("w1")] == pytest.approx(expected.item())
    overwritten = call("tape", "run", nodes, {"overwrite": True})["grads"][names.index("w1")]
    assert overwritten != pytest.approx(expected.item(), rel=0.01)


@needs_node
def test_gradients_that_are_kept_double_at_the_inputs_only():
    nodes, names = figures.tape(SOFTMAX).data["nodes"], list(SOFTMAX)
    once = call("tape", "run", nodes)["grads"]
    again = call("tape", "run", nodes, {"kept": once})["grads"]
    for name in names:
        factor = 2 if name in INPUTS else 1
        assert again[names.index(name)] == pytest.approx(factor * once[names.index(name)])


@needs_node
def test_a_box_names_the_inputs_that_it_is_computed_from():
    nodes, names = figures.tape({**SOFTMAX, "h": ("tanh", "z2")}).data["nodes"], [*SOFTMAX, "h"]
    tied = call("tape", "tied", nodes, [names.index("w2"), names.index("w1")])
    assert call("tape", "formula", nodes, names.index("h")) == "tanh z2"
    assert call("tape", "formula", nodes, names.index("z2")) == "w2 · x2"
    assert call("tape", "formula", tied, names.index("z2")) == "w1 · x2"


@needs_node
@pytest.mark.parametrize(
    ("op", "names"), [("add", "ab"), ("mul", "ab"), ("div", "ab"), ("exp", "a"), ("tanh", "a"), ("nlog", "a")]
)
def test_every_operation_has_the_derivative_of_torch(op, names):
    graph = {"a": 0.8, "b": -1.3, "c": (op, *names), "L": ("mul", "c", "a")}
    values, gradients = by_autograd(graph)
    result = call("tape", "run", figures.tape(graph).data["nodes"])
    assert result["values"] == pytest.approx(list(values.values()))
    assert result["grads"] == pytest.approx(list(gradients.values()))


def test_the_alt_text_tells_the_loss_and_the_gradients():
    alt = figures.tape({"a": 2, "b": 3, "L": ("mul", "a", "b")}).alt
    assert "L is 6.000; its gradients: 3.000 for a, 2.000 for b." in alt


def test_a_node_that_is_used_before_it_is_computed_is_refused():
    with pytest.raises(ValueError, match="b uses c, which is not computed before it"):
        figures.tape({"a": 1.0, "b": ("exp", "c")})


def test_an_unknown_operation_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="unknown operation 'cosh'; the known ones are add"):
        figures.tape({"a": 1.0, "b": ("cosh", "a")})
