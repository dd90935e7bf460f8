"""A check's calls reach the student's process, gradients come back, and a death costs one call."""

import pytest
import torch
from torch import nn
from warm_levels import warm_with

from autograder.grading.standin import Cell, RemoteLink, Sitting
from autograder.isolation import Limits
from course.checks import LocalLink, NotWritten, StandIn, StudentError, Trace, Unreachable, replay, same
from course.checks.changed import changed_in_place

LIMITS = Limits(call_seconds=1.0, cell_seconds=1.0, submission_seconds=60)

SOURCE = """
import os
import torch
from torch import nn

def scaled(x, factor=2.0):
    return {"scaled": x * factor, "count": len(x)}

def sort_in_place(values):
    values.sort()

def follows(x):
    return x.requires_grad_().square()

def draws(n):
    return torch.rand(n)

def stub(x):
    raise NotImplementedError

def fails(x):
    return 1 / 0

def hangs(x):
    while True:
        pass

def leaves(x):
    os._exit(3)

def apply(function, x):
    return function(x)

class Line(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(n, dtype=torch.float64))

    def forward(self, x):
        return x @ self.weight
"""


@pytest.fixture(scope="module")
def warm():
    return warm_with(LIMITS)


@pytest.fixture
def sitting(warm):
    sitting = Sitting(warm.student, LIMITS, guarded={"torch.softmax"})
    assert sitting.run(Cell(SOURCE, "answers")).error is None
    yield sitting
    sitting.close()


@pytest.fixture
def stand_in(sitting):
    trace = Trace("a check")
    link = RemoteLink(sitting)
    return lambda name: StandIn(link, trace, name)


def local(name):
    scope = {}
    exec(SOURCE, scope)
    return StandIn(LocalLink(scope), Trace("a check"), name)


def test_values_come_back_as_plain_data(stand_in):
    answer = stand_in("scaled")(torch.tensor([1.0, 2.0]), factor=3.0)
    assert answer == {"scaled": answer["scaled"], "count": 2}
    assert torch.equal(answer["scaled"], torch.tensor([3.0, 6.0]))


def test_random_numbers_are_those_of_the_notebook(stand_in):
    assert torch.equal(stand_in("draws")(3), local("draws")(3))


def test_a_change_of_the_arguments_is_seen_and_does_not_spoil_the_check(stand_in):
    values = [3, 1, 2]
    sort = stand_in("sort_in_place")
    sort(values)
    assert values == [3, 1, 2]
    assert sort._trace.events[-1].outcome.changed == (([1, 2, 3],), {})


def test_an_argument_that_requires_a_gradient_afterwards_was_changed_here_and_there(stand_in):
    sentences = []
    for follows in (stand_in("follows"), local("follows")):
        follows(torch.ones(2, requires_grad=True))
        assert changed_in_place(follows._trace.events, lambda name: None) == ""
        follows(torch.ones(2))
        sentences.append(changed_in_place(follows._trace.events, lambda name: None))
    assert sentences[0] == sentences[1]
    assert sentences[0].startswith("`follows` changed its argument 1 in place. Its numbers are the same, but")


def test_errors_carry_the_students_line(stand_in):
    with pytest.raises(StudentError, match=r"`fails` raised ZeroDivisionError.*at line 21: `return 1 / 0`"):
        stand_in("fails")(1)


def test_a_stub_is_not_an_error(stand_in):
    with pytest.raises(NotWritten, match="`stub` is not written yet"):
        stand_in("stub")(1)


def test_a_students_function_can_be_an_argument(stand_in):
    assert stand_in("apply")(stand_in("scaled"), torch.ones(5))["count"] == 5


def test_a_module_answers_as_one_at_hand_does(stand_in):
    far, near = stand_in("Line")(3), local("Line")(3)
    for module in (far, near):
        module.load_state_dict({"weight": torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)})
    x = torch.ones(2, 3, dtype=torch.float64)
    assert torch.equal(far(x), near(x))
    assert same(dict(far.named_parameters()), dict(near.named_parameters()))


def test_gradients_cross_the_border(stand_in):
    x = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64, requires_grad=True)
    line = stand_in("Line")(3)
    line(x).sum().backward()
    assert torch.equal(x.grad, torch.tensor([[0.0, 1.0, 2.0]], dtype=torch.float64))
    assert torch.equal(line.gradients()["weight"], x.detach()[0])


def test_gradcheck_works_across_the_border(stand_in):
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(stand_in("Line")(3), (x,))


def test_what_was_recorded_can_be_replayed_on_objects_at_hand(stand_in):
    line = stand_in("Line")(3)
    line(torch.ones(1, 3, dtype=torch.float64, requires_grad=True)).sum().backward()
    scope = {}
    exec(SOURCE, scope)
    again = replay(line._trace, scope).events
    assert len(again) == len(line._trace.events) == 3
    assert all(same(a.outcome, b.outcome) for a, b in zip(again, line._trace.events, strict=True))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("hangs", "`hangs` did not finish within 1 s."),
        ("leaves", "`leaves` exited with status 3."),
    ],
)
def test_a_death_costs_one_call_and_the_next_goes_on(stand_in, sitting, name, sentence):
    with pytest.raises(Unreachable, match=sentence):
        stand_in(name)(1)
    assert stand_in("scaled")(torch.ones(1))["count"] == 1
    assert len(sitting.deaths) == 1


def test_objects_of_a_dead_process_are_gone(stand_in):
    line = stand_in("Line")(3)
    with pytest.raises(Unreachable):
        stand_in("leaves")(1)
    with pytest.raises(Unreachable, match="class Line is gone"):
        line(torch.ones(1, 3, dtype=torch.float64))


def test_a_cell_that_kills_its_process_is_not_run_again(sitting):
    result = sitting.run(Cell("import os; os._exit(1)", "bad"))
    assert "exited with status 1" in result.error.message
    assert sitting.defined({"scaled", "nothing"}) == {"scaled"}


def test_a_process_that_dies_between_two_requests_costs_nothing(sitting, stand_in):
    sitting._student.kill()
    assert sitting.defined({"scaled"}) == {"scaled"}
    sitting._student.kill()
    assert stand_in("scaled")(torch.ones(1))["count"] == 1


def test_a_cell_that_hangs_is_ended(sitting):
    assert "did not finish within 1 s" in sitting.run(Cell("while True: pass", "endless")).error.message


def test_forbidden_names_raise_only_while_they_are_forbidden(sitting, stand_in):
    sitting.run(Cell("from torch import softmax\ndef weigh(x): return softmax(x, -1)", "weigh"))
    weigh = stand_in("weigh")
    assert weigh(torch.zeros(2)).tolist() == [0.5, 0.5]
    sitting.forbid({"torch.softmax"})
    with pytest.raises(StudentError, match="Forbidden"):
        weigh(torch.zeros(2))
    sitting.forbid(())
    assert weigh(torch.zeros(2)).tolist() == [0.5, 0.5]


def test_forbidden_names_are_forbidden_in_the_next_process_too(sitting, stand_in):
    sitting.run(Cell("def weigh(x): return torch.softmax(x, -1)", "weigh"))
    sitting.forbid({"torch.softmax"})
    with pytest.raises(Unreachable):
        stand_in("leaves")(1)
    with pytest.raises(StudentError, match="Forbidden"):
        stand_in("weigh")(torch.zeros(2))


def test_the_time_of_a_submission_is_limited_in_all(warm):
    limits = Limits(call_seconds=5.0, cell_seconds=5.0, submission_seconds=0.5)
    sitting = Sitting(warm.student, limits)
    sitting.run(Cell(SOURCE, "answers"))
    link = RemoteLink(sitting)
    with pytest.raises(Unreachable, match="did not finish"):
        link.request("hangs", "", (1,), {})
    with pytest.raises(Unreachable, match=r"had used up its 0\.5 s"):
        link.request("scaled", "", ([1],), {})
    sitting.close()


def test_nn_modules_of_torch_are_objects_too(sitting, stand_in):
    sitting.run(Cell("def build(): return nn.Linear(2, 1)", "build"))
    module = stand_in("build")()
    reference = nn.Linear(2, 1)
    reference.load_state_dict(module.state_dict())
    x = torch.ones(1, 2)
    assert torch.equal(module(x), reference(x))


@pytest.mark.parametrize("trains", [False, True])
def test_a_call_that_trains_may_take_as_long_as_a_cell(warm, trains):
    limits = Limits(call_seconds=0.5, cell_seconds=20.0, submission_seconds=60)
    computes = "import time\ndef computes():\n    while time.process_time() < begun + 1.5: pass\n    return 7"
    sitting = Sitting(warm.student, limits, trains=trains)
    try:
        sitting.run(Cell(f"{computes}\nbegun = time.process_time()", "answers"))
        ask = StandIn(RemoteLink(sitting), Trace("a check"), "computes")
        if trains:
            assert ask() == 7
        else:
            with pytest.raises(Unreachable, match=r"did not finish within 0\.5 s"):
                ask()
    finally:
        sitting.close()
