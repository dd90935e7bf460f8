"""One slip is paid for once, seven digits are enough, and neither lets anything out of the judge."""

import json

import pytest
import torch
from warm_levels import CONFINED, warm_or_skip

from autograder.grading.judge import judge
from autograder.grading.parts import Parts
from autograder.grading.plan import Plan
from autograder.grading.standin import Cell, Sitting
from autograder.isolation import Limits
from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.homework import right_cells
from autograder.source.loading import load
from autograder.source.released import source_cells
from autograder.source.sample_submissions import answered, released
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import repair
from course.checks import StudentError, Unreachable
from course.checks.precision import COUNTS

X = torch.tensor([[1.0, 2.0, 6.0], [0.0, -1.0, 4.0]], dtype=torch.float64)
SOURCE = '''# A homework of three parts, each of which may call the one before.

# %% [markdown]
# # Parts
#
# Three exercises.

# %% setup

# %% provided="imports"
import torch
from torch import Tensor

from course.checks import assert_close, assert_differentiable, with_weights

# %% [markdown] exercise="centred" difficulty=1 minutes=5
# ## 1. Centred
#
# Subtract the mean along the last axis.


# %% solution="centred"
def centred(x: Tensor) -> Tensor:
    """x minus its mean."""
    ### BEGIN SOLUTION
    walrus = x.mean(-1, keepdim=True)
    return x - walrus
    ### END SOLUTION


# %% check="rows_have_mean_zero" points=1
def rows_have_mean_zero(centred, draw):
    """Each row has mean zero, and gradients flow back."""
    x = draw.normal(2, 3) + 10
    assert_close(centred(x), x - x.sum(-1, keepdim=True) / 3)


# %% [markdown] exercise="power" difficulty=1 minutes=5
# ## 2. Power
#
# The mean square of the centred numbers.


# %% solution="power"
def power(x: Tensor) -> Tensor:
    """The variance along the last axis."""
    ### BEGIN SOLUTION
    return centred(x).square().mean(-1)
    ### END SOLUTION


# %% check="the_variance_is_right" points=1
def the_variance_is_right(power, draw):
    """It is the variance."""
    x = draw.normal(2, 3)
    assert_close(power(x), x.var(-1, unbiased=False))
    assert_differentiable(power, x)


# %% check="other_variances_are_right" points=2 hidden
def other_variances_are_right(power, draw):
    """It is the variance of other numbers, too."""
    x = draw.normal(4, 7)
    assert_close(power(x), x.var(-1, unbiased=False))


# %% [markdown] exercise="spread" difficulty=1 minutes=5
# ## 3. Spread
#
# The root of the power.


# %% solution="spread"
def spread(x: Tensor) -> Tensor:
    """The standard deviation along the last axis."""
    ### BEGIN SOLUTION
    return power(x).sqrt()
    ### END SOLUTION


# %% check="the_deviation_is_right" points=1
def the_deviation_is_right(spread, draw):
    """It is the standard deviation."""
    x = draw.normal(2, 3)
    assert_close(spread(x), x.std(-1, unbiased=False))
'''
SOURCE += '''

# %% [markdown] exercise="Scaled" difficulty=1 minutes=5
# ## 4. Scaled
#
# A gain for each feature.


# %% solution="Scaled"
class Scaled(torch.nn.Module):
    """Each of n features times its gain."""

    def __init__(self, n: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.gain = torch.nn.Parameter(torch.ones(n).double())
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """x times the gain."""
        ### BEGIN SOLUTION
        narwhal = self.gain
        return x * narwhal
        ### END SOLUTION


# %% check="features_are_scaled" points=1
def features_are_scaled(Scaled, draw):
    """Each feature is multiplied by its gain."""
    x, gain = draw.normal(2, 3), draw.normal(3)
    assert_close(with_weights(Scaled(3), {"gain": gain})(x), x * gain)


# %% [markdown] exercise="Twice" difficulty=1 minutes=5
# ## 5. Twice
#
# A list `layers` of two of them, with a tanh between.


# %% solution="Twice"
class Twice(torch.nn.Module):
    """Scaled, tanh, scaled."""

    def __init__(self, n: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.layers = torch.nn.ModuleList(Scaled(n) for _ in range(2))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """One after the other."""
        ### BEGIN SOLUTION
        return self.layers[1](self.layers[0](x).tanh())
        ### END SOLUTION


# %% check="both_scale" points=2
def both_scale(Twice, draw):
    """Outputs and gradients are those of two scales with a tanh between."""
    x, first, second = draw.normal(2, 3), draw.normal(3), draw.normal(3)
    module = with_weights(Twice(3), {"layers.0.gain": first, "layers.1.gain": second})
    x.requires_grad_()
    answer = module(x)
    assert_close(answer, second * (first * x.detach()).tanh())
    answer.sum().backward()
    slope = 1 - (first * x.detach()).tanh() ** 2
    assert_close(x.grad, second * slope * first, what="the gradient of x")
    own = module.gradients()
    assert_close(own["layers.1.gain"], (first * x.detach()).tanh().sum(0), what="the second gain's gradient")
    assert_close(own["layers.0.gain"], (second * slope * x.detach()).sum(0), what="the first gain's gradient")
'''
WRONG = "def centred(x):\n    return x - x.mean()"
CALLS = "def power(x):\n    return helper(x).mean(-1)\n\ndef helper(x):\n    return centred(x) ** 2"
OWN_SLIP = "def power(x):\n    return centred(x).square().sum(-1)"
RIGHT = "def spread(x):\n    return power(x) ** 0.5"


@pytest.fixture(scope="module")
def homework(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solutions") / "parts"
    folder.mkdir()
    (folder / "parts.py").write_text(SOURCE)
    return load(folder)


@pytest.fixture(scope="module", params=CONFINED)
def judged(request, homework):
    warm = warm_or_skip(request.param)
    built = build_homework(homework, Address("https://example.org/course", "v1"))
    limits = Limits(call_seconds=10, cell_seconds=20, submission_seconds=120)
    plan = Plan(homework, source_cells(built), limits)

    def start():
        return warm.student(limits=limits)

    def run(centred=WRONG, power=CALLS, spread=RIGHT, **others):
        answers = {"centred": centred, "power": power, "spread": spread, **others}
        content = answered(released(built), answers)
        cells = parse(json.dumps(content).encode()).cells
        found = judge(plan, repair(cells, plan.source), start, seed=1)
        return {exercise.name: exercise for exercise in found.exercises}

    return run


SCALED = """
class Scaled(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(n))

    def forward(self, x):
        return x + self.gain
"""
TWICE = """
class Twice(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = torch.nn.ModuleList([Scaled(n), Scaled(n)])

    def forward(self, x):
        first, second = self.layers
        return second(torch.tanh(first(x)))
"""


def test_what_is_built_of_a_wrong_class_is_judged_with_a_right_one(judged):
    found = judged(Scaled=SCALED, Twice=TWICE)
    assert [found[name].points for name in ("Scaled", "Twice")] == [0, 2]
    assert "It calls your `Scaled`, which failed, so this was examined with a right one" in str(
        messages(found["Twice"])
    )
    assert judged(Scaled=SCALED, Twice=TWICE.replace("torch.tanh", "torch.relu"))["Twice"].points == 0


def messages(exercise):
    return [check.message for check in exercise.checks]


def test_what_calls_a_wrong_part_is_judged_with_a_right_one(judged):
    found = judged()
    assert [found[name].points for name in ("centred", "power", "spread")] == [0, 3, 1]
    visible, hidden = messages(found["power"])
    assert visible.endswith(
        "It calls your `centred`, which failed, so this was examined with a right one in its place."
    )
    assert "centred" not in hidden


def test_whether_an_exercise_was_judged_a_second_time_is_on_record_whatever_came_of_it(judged):
    for power in (CALLS, OWN_SLIP):
        again = {name: one.judged_again for name, one in judged(power=power).items() if one.judged_again}
        assert again == {"power": ("centred",), "spread": ("power",)}


def test_a_slip_of_its_own_is_still_paid_and_the_part_is_to_be_mended_first(judged):
    found = judged(power=OWN_SLIP)
    assert [found[name].points for name in ("centred", "power", "spread")] == [0, 0, 1]
    visible, hidden = messages(found["power"])
    assert "It calls your `centred`, which fails the checks of its own exercise; fix that first." in visible
    assert "centred" not in hidden


def test_two_that_only_call_each_other_are_not_both_right(judged):
    found = judged(
        power="def power(x):\n    return spread(x) ** 2", spread="def spread(x):\n    return power(x) ** 0.5"
    )
    assert [found[name].points for name in ("power", "spread")] == [0, 1]


def test_a_part_that_is_not_called_changes_nothing(judged):
    found = judged(power="def power(x):\n    return x.mean(-1)")
    assert found["power"].points == 0
    assert all("fix that first" not in message for message in messages(found["power"]))


IN_FLOAT32 = "def centred(x):\n    x = x.float()\n    return (x - x.mean(-1, keepdim=True)).double()"


def test_an_answer_in_float32_loses_no_point_and_is_told(judged):
    found = judged(centred=IN_FLOAT32)
    assert [found[name].points for name in ("centred", "power", "spread")] == [1, 3, 1]
    assert messages(found["centred"]) == [f"Each row has mean zero, and gradients flow back. {COUNTS}"]
    assert COUNTS not in messages(found["power"])[1]  # of a hidden check


@pytest.fixture(params=CONFINED)
def answer_of(request, homework):
    """What `power` answers in a student's process in which the grader answers `centred`."""
    warm = warm_or_skip(request.param)
    limits = Limits(call_seconds=10, cell_seconds=20, submission_seconds=120)

    def start():
        return warm.student(limits=limits)

    def run(power, gradients=False):
        first = Sitting(start, limits)
        first.run(Cell(f"import torch\n\n{WRONG}\n\n{power}", "answer"))
        first.close()
        cells = [Cell(source, f"right {place}") for place, source in enumerate(right_cells(homework))]
        parts = Parts(("centred",), cells, start, limits, first.budget, ("Scaled",))
        sitting = Sitting(start, limits, parts=parts, shared=first.budget)
        sitting.take_over(first)
        try:
            with torch.set_grad_enabled(gradients):
                return sitting.ask("power", "", (X,), {}, seed=1)
        finally:
            sitting.close()
            parts.close()

    return run


def test_values_and_gradients_of_the_right_part_come_back(answer_of):
    assert torch.allclose(answer_of(CALLS).value, X.var(-1, unbiased=False))
    x = X.clone().requires_grad_()
    x.var(-1, unbiased=False).sum().backward()
    code = "def power(x):\n    x.requires_grad_()\n    centred(x).square().mean(-1).sum().backward()"
    assert torch.allclose(answer_of(f"{code}\n    return x.grad", gradients=True).value, x.grad)


LINK = "link = next(c.cell_contents for c in centred.__closure__ if hasattr(c.cell_contents, 'request'))"
SPIES = {
    "its code": "import inspect; said = inspect.getsource(centred)",
    "its constants": "said = str(centred.__code__.co_names + centred.__code__.co_varnames)",
    "a class and a module of it": "said = str([vars(one) for one in (Scaled, Scaled(3))])",
    "what a class computes": "code = Scaled.forward.__code__; said = str(code.co_names + code.co_consts)",
    "what its closure holds": "said = str([vars(c.cell_contents) for c in centred.__closure__[1:]])",
    "the line at which it stops": (
        "try:\n        centred('x')\n    except BaseException as error:\n        said = str(error)"
    ),
    "another exercise": f"{LINK}; said = str(link.request('spread', '', (x,), {{}}).value)",
    "another name": f"{LINK}; said = str(link.request('__import__', '', ('os',), {{}}).value)",
    "all objects of the process": "import gc; said = str([o for o in gc.get_objects() if type(o) is str])",
}


@pytest.mark.parametrize("spy", SPIES.values(), ids=SPIES.keys())
def test_the_right_part_is_not_in_the_students_process(answer_of, spy):
    try:
        said = str(answer_of(f"def power(x):\n    centred(x)\n    {spy}\n    return said").value)
    except (StudentError, Unreachable) as problem:
        said = str(problem)
    assert said
    assert "walrus" not in said
    assert "narwhal" not in said
    assert "0.5" not in said


ATTACKS = {
    "too many calls": "while True:\n        centred(x)",
    "a call with far too much": "return centred(torch.zeros(2**29))",
    "a call with something odd": "return centred(centred)",
    "half a message": f"{LINK}\n    return link.ask({{'part': 3}})",
    "a message without arguments": f"{LINK}\n    return link.ask({{'part': 'centred'}})",
    "an unknown graph": f"{LINK}\n    return link.way_back(999)([x])",
    "a graph without a number": f"{LINK}\n    return link.way_back(float('inf'))([x])",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_on_the_grader_by_way_of_a_part_gets_no_answer(answer_of, attack):
    with pytest.raises((StudentError, Unreachable)):
        answer_of(f"def power(x):\n    {attack}")


def test_a_process_that_calls_back_although_nothing_is_answered_for_it_ends(homework):
    warm = warm_or_skip("landlock")
    limits = Limits(call_seconds=10, cell_seconds=20, submission_seconds=60)
    sitting = Sitting(lambda: warm.student(limits=limits), limits)
    reach = "import gc\n\ndef power(x):\n"
    reach += "    [way] = [o for o in gc.get_objects() if type(o).__name__ == 'CallBack']\n"
    reach += "    return way.part('centred')(x)"
    try:
        assert sitting.run(Cell(reach, "answer")).error is None
        with pytest.raises(Unreachable, match="cannot be read"):
            sitting.ask("power", "", (X,), {}, seed=1)
    finally:
        sitting.close()
