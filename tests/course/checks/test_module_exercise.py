"""A class as an exercise: a recurrent cell whose weights are passed in."""

import subprocess
import sys

import pytest
import torch

from course.checks import (
    LocalLink,
    StandIn,
    Trace,
    assert_close,
    examine,
    matches,
    replay,
    same,
    with_weights,
)
from course.checks.trace import Answer


class RNNCell(torch.nn.Module):
    def __init__(self, d_in, d_hidden):
        super().__init__()
        self.d_hidden = d_hidden
        self.W_in = torch.nn.Parameter(torch.zeros(d_in, d_hidden))
        self.W_hidden = torch.nn.Parameter(torch.zeros(d_hidden, d_hidden))

    def forward(self, x, hidden):
        return torch.tanh(x @ self.W_in + hidden @ self.W_hidden)


class TransposedWeights(RNNCell):
    def forward(self, x, hidden):
        return torch.tanh(x @ self.W_in + hidden @ self.W_hidden.T)


class CutOff(RNNCell):
    """The right values, but the gradient does not reach the weights through the state."""

    def forward(self, x, hidden):
        return torch.tanh(x @ self.W_in + hidden @ self.W_hidden.detach())


class CutOffAnotherWay(RNNCell):
    def forward(self, x, hidden):
        with torch.no_grad():
            recurrent = hidden @ self.W_hidden
            slope = self.W_hidden.clone()
        return (x @ self.W_in + recurrent + (hidden - hidden.detach()) @ slope).tanh()


class Doubled(RNNCell):
    def forward(self, x, hidden):
        return super().forward(x, hidden) * 2


def built(make, draw):
    return with_weights(make(3, 4), {"W_in": draw.normal(3, 4), "W_hidden": draw.normal(4, 4)})


def one_step_is_the_tanh_of_two_products(RNNCell, draw):
    """One step is tanh(x W_in + h W_hidden)."""
    cell = built(RNNCell, draw)
    weights = cell.state_dict()
    x, hidden = draw.normal(2, 3), draw.normal(2, 4)
    expected = torch.tanh(x @ weights["W_in"] + hidden @ weights["W_hidden"])
    assert_close(cell(x, hidden), expected)


def gradients_reach_every_weight(RNNCell, draw):
    """The gradients of all weights and of the state are those of autograd."""
    cell = built(RNNCell, draw)
    weights = {name: weight.requires_grad_() for name, weight in cell.state_dict().items()}
    x, hidden = draw.normal(2, 3), draw.normal(2, 4).requires_grad_()
    loss = draw.normal(2, 4)
    (cell(x, hidden) * loss).sum().backward()
    received, hidden.grad = hidden.grad, None
    (torch.tanh(x @ weights["W_in"] + hidden @ weights["W_hidden"]) * loss).sum().backward()
    assert_close(received, hidden.grad, what="the gradient of the state")
    assert_close(cell.gradients(), {name: weight.grad for name, weight in weights.items()})


def run(claim, thing):
    return examine(claim, LocalLink({"RNNCell": thing}))


CLAIMS = (one_step_is_the_tanh_of_two_products, gradients_reach_every_weight)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_right_module_passes(claim):
    assert run(claim, RNNCell).problem is None


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        (CLAIMS[0], TransposedWeights),
        (CLAIMS[0], Doubled),
        (CLAIMS[1], CutOff),
        (CLAIMS[1], CutOffAnotherWay),
    ],
)
def test_a_wrong_module_fails(claim, wrong):
    assert run(claim, wrong).result == "failed"


def test_the_missing_gradient_is_described():
    message = run(CLAIMS[1], CutOff).message
    assert message.startswith(
        "1 of 2 entries differ; the first, at 'W_hidden': None where a tensor is expected"
    )


class TiedAndBuffered(RNNCell):
    def __init__(self, d_in, d_hidden):
        super().__init__(d_in, d_hidden)
        self.second_name = self.W_hidden
        self.register_buffer("n_steps", torch.zeros(()))


def test_a_buffer_and_a_second_name_of_a_weight_are_no_mistake():
    assert all(run(claim, TiedAndBuffered).problem is None for claim in CLAIMS[:1])


def test_parameters_of_other_shapes_are_said_to_be_so():
    finding = run(CLAIMS[0], lambda d_in, d_hidden: RNNCell(d_hidden, d_in))
    assert "size mismatch for W_in" in finding.message


class OtherNames(RNNCell):
    def __init__(self, d_in, d_hidden):
        super().__init__(d_in, d_hidden)
        self.recurrent = self.W_hidden
        del self.W_hidden


def test_a_module_is_filled_with_the_weights_in_float64():
    cell = StandIn(LocalLink({"RNNCell": RNNCell}), Trace("a_check"), "RNNCell")(2, 1)
    weights = {"W_in": torch.tensor([[1 / 3], [2.0]]).double(), "W_hidden": torch.tensor([[5.0]]).double()}
    assert with_weights(cell, weights) is cell
    loaded = cell.state_dict()
    assert all(torch.equal(loaded[name], weight) for name, weight in weights.items())
    assert {weight.dtype for weight in loaded.values()} == {torch.float64}


def test_a_module_whose_parameters_have_other_names_says_which_are_missing():
    finding = run(CLAIMS[0], OtherNames)
    assert finding.result == "failed"
    assert finding.message == (
        "the names of the parameters: entries missing: 'W_hidden'; not expected: 'recurrent'"
    )
    assert replayed_match([finding.trace], OtherNames)
    assert not replayed_match([finding.trace], TransposedWeights)


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("thing", [RNNCell, TransposedWeights, CutOff])
def test_a_replay_on_the_same_class_gives_the_same_events(claim, thing):
    trace = run(claim, thing).trace
    again = replay(trace, {"RNNCell": thing})
    assert [(event.target, event.method) for event in again.events] == [
        (event.target, event.method) for event in trace.events
    ]
    assert all(same(a.outcome, b.outcome) for a, b in zip(again.events, trace.events, strict=True))


def test_the_backward_pass_is_an_event_with_the_gradients_of_the_arguments():
    trace = run(CLAIMS[1], RNNCell).trace
    [backward] = [event for event in trace.events if event.method == "backward"]
    assert isinstance(backward.target, Answer)
    [cotangent], [of_hidden] = backward.args, backward.outcome.value
    assert cotangent.shape == (2, 4)
    assert of_hidden.shape == (2, 4)


def test_gradients_that_do_not_fit_the_other_answer_are_an_error_of_the_replay():
    class HalfTheBatch(RNNCell):
        def forward(self, x, hidden):
            return super().forward(x, hidden)[:1]

    trace = run(CLAIMS[1], RNNCell).trace
    [backward] = [
        event for event in replay(trace, {"RNNCell": HalfTheBatch}).events if event.method == "backward"
    ]
    assert backward.outcome.error == "RuntimeError"


def test_sending_gradients_back_does_not_import_sympy():
    program = """
import sys, torch
from course.checks import LocalLink, examine, replay
def gradient_of_the_square(square):
    x = torch.ones(3, 2, requires_grad=True)
    square(x).sum().backward()
trace = examine(gradient_of_the_square, LocalLink({"square": torch.square})).trace
again = replay(trace, {"square": torch.square})
print([event.method for event in again.events], "sympy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['', 'backward'] False\n"


def test_a_mistake_in_the_gradients_alone_is_recognised_however_it_is_written():
    student = [run(claim, CutOffAnotherWay).trace for claim in CLAIMS]
    assert replayed_match(student, CutOff)
    assert not replayed_match(student, TransposedWeights)


def test_a_right_module_matches_no_mistake():
    student = [run(claim, RNNCell).trace for claim in CLAIMS]
    assert not replayed_match(student, CutOff)
    assert not replayed_match(student, RNNCell)


def replayed_match(student, wrong):
    things = [{"RNNCell": thing} for thing in (wrong, RNNCell)]
    return matches(student, *[[replay(trace, objects) for trace in student] for objects in things])


def test_gradients_flow_through_the_stand_in_as_through_the_module():
    trace = Trace("a_check")
    cell = StandIn(LocalLink({"RNNCell": RNNCell}), trace, "RNNCell")(3, 4).double()
    own = RNNCell(3, 4).double()
    weights = {name: torch.rand_like(weight) for name, weight in own.state_dict().items()}
    cell.load_state_dict(weights)
    own.load_state_dict(weights)
    x = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)
    hidden = torch.zeros(2, 4, dtype=torch.float64)
    for _ in range(3):
        hidden = cell(x, hidden)
    hidden.square().sum().backward()
    through_stand_in, x.grad = x.grad, None
    state = torch.zeros(2, 4, dtype=torch.float64)
    for _ in range(3):
        state = own(x, state)
    state.square().sum().backward()
    torch.testing.assert_close(through_stand_in, x.grad)
    for name, gradient in cell.gradients().items():
        torch.testing.assert_close(gradient, own.get_parameter(name).grad)


def test_modes_attributes_and_parameters_are_at_hand():
    cell = StandIn(LocalLink({"RNNCell": RNNCell}), Trace("a_check"), "RNNCell")(3, 4)
    from course.checks import attribute

    assert attribute(cell.eval(), "training") is False
    assert attribute(cell.train(), "training") is True
    assert attribute(cell, "d_hidden") == 4
    assert attribute(cell, "W_in").shape == (3, 4)
    assert [name for name, _ in cell.named_parameters()] == ["W_in", "W_hidden"]
    assert [weight.shape for weight in cell.parameters()] == [(3, 4), (4, 4)]
    assert cell.gradients() == {"W_in": None, "W_hidden": None}


def test_a_replay_ends_where_the_other_class_does_not_give_what_the_next_call_needs():
    trace = run(CLAIMS[0], RNNCell).trace

    def broken(*_):
        return 3

    again = replay(trace, {"RNNCell": broken})
    assert len(again.events) == 1


def test_a_result_without_a_gradient_is_said_to_be_cut_off():
    class Detached(RNNCell):
        def forward(self, x, hidden):
            return super().forward(x, hidden).detach()

    assert run(CLAIMS[1], Detached).message.startswith("no gradient flows back")


def test_a_students_function_may_change_a_differentiable_argument_in_place():
    def double(x):
        x *= 2
        return x

    trace = Trace("a_check")
    x = torch.ones(3, requires_grad=True)
    StandIn(LocalLink({"double": double}), trace, "double")(x).sum().backward()
    assert torch.equal(x.grad, torch.full((3,), 2.0))
    assert torch.equal(x.detach(), torch.ones(3))
    assert trace.events[0].outcome.changed is not None
