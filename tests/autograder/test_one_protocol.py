"""The notebook's link and the sandbox's ask alike: the same calls leave the same trace."""

import contextlib
import io
import linecache
import math
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor
from warm_levels import warm_at

from autograder.grading.standin import Cell, RemoteLink, Sitting
from autograder.isolation import Limits
from course.checks import (
    LocalLink,
    NotWritten,
    StandIn,
    StudentError,
    Trace,
    Unreachable,
    assert_close,
    assert_equal,
    attribute,
    examine,
    with_weights,
)
from course.checks.request import Reply
from course.checks.standin import ask
from course.checks.trace import Object

ZOO = Path(__file__).with_name("zoo.py").read_text()
NAME = "zoo"
GIVEN = "def given(x):\n    return [][1]\n"  # another cell
CELLS = {"given": GIVEN, NAME: ZOO}
FUNCTIONS = (
    *("same_again", "received", "nested", "subclasses", "odd_values", "odd_tensors", "draw", "loud"),
    *("change", "change_a_little", "change_into_an_object", "change_without_end", "without_gradients"),
    *("doubled", "double_in_place", "own_gradient", "detached", "failing_backward", "functions"),
    *("too_deep", "endless", "recurse", "stub", "calls_a_stub", "no_such_name"),
    *("yielding", "nothing", "in_numpy", "through_a_given", "makes_an_object"),
    *("long_range", "long_backward_range", "huge_empty", "huge_empty_array", "many_objects"),
)
CLASSES = ("Plain", "Lying", "Line", "Awkward")
N_ERRORS = ZOO.split("ERRORS = (")[1].split("\n)\n")[0].count("(")
METHODS = (
    *("", "itself", "parts", "parameters", "named_parameters", "buffers", "named_buffers", "state_dict"),
    *("method_stub", "no_such_method", "gradients", "double", "eval", "__len__", "__iter__", "__call__"),
)
ATTRIBUTES = (
    "x",
    "_x",
    "__wrapped__",
    "gradients",
    "parameters",
    "training",
    "weight",
    "anything",
    "__dict__",
)


@pytest.fixture(scope="module")
def sitting():
    warm = next((warm for warm in map(warm_at, ("landlock", "none")) if not isinstance(warm, str)), None)
    assert warm is not None, [warm_at(level) for level in ("landlock", "none")]
    limits = Limits(submission_seconds=900.0)
    sitting = Sitting(lambda: warm.student(limits=limits), limits)
    for name, source in CELLS.items():
        assert sitting.run(Cell(source, name)).error is None
    yield sitting
    sitting.close()


@pytest.fixture(scope="module")
def things():
    """The zoo in this process, as a notebook's cell."""
    scope = {"__name__": "__main__"}
    for name, source in CELLS.items():
        lines = source.splitlines(keepends=True)
        linecache.cache[f"<{name}>"] = (len(source), None, lines, f"<{name}>")
        exec(compile(source, f"<{name}>", "exec"), scope)
    return scope


dtypes = st.sampled_from([torch.float32, torch.float64, torch.int64, torch.bool])


@st.composite
def tensors(draw):
    shape = draw(st.sampled_from([(), (3,), (2, 3), (0, 2)]))
    tensor = torch.arange(math.prod(shape)).reshape(shape).to(draw(dtypes))
    if len(shape) == 2 and draw(st.booleans()):
        tensor = tensor.T
    if tensor.is_floating_point():
        tensor = tensor.requires_grad_(draw(st.booleans()))
    return tensor


@st.composite
def arrays(draw):
    array = np.arange(6).reshape(2, 3).astype(draw(st.sampled_from(["float32", "float64", "int32", "bool"])))
    return array.T if draw(st.booleans()) else array


leaves = (
    tensors()
    | arrays()
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.just(range(4))
)
keys = st.text(max_size=3) | st.integers() | st.tuples(st.integers(), st.booleans())
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(keys, inner, max_size=3)
        | st.frozensets(st.integers(), max_size=3)
    ),
    max_leaves=6,
)


def calls(stand_in, x, script):
    """Make one call after another; what the check gets to see is put down, and errors end nothing."""
    seen = []
    for step in script:
        try:
            seen.append(shown(step(stand_in, x)))
        except (StudentError, NotWritten, Unreachable, TypeError, AttributeError) as problem:
            seen.append((type(problem).__name__, str(problem)))
    return seen


def shown(value):
    return exactly(value) if not isinstance(value, StandIn) else repr(value)


def exactly(value):
    """A value as something that is equal only for what is the same to the last bit and of the same type."""
    if isinstance(value, Tensor):
        content = value.detach().contiguous().view(torch.uint8) if value.ndim else value.detach().reshape(1)
        return "tensor", value.dtype, tuple(value.shape), value.requires_grad, content.tolist().__repr__()
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, torch.Generator):
        return "generator"
    if isinstance(value, dict):
        return "dict", [(exactly(key), exactly(entry)) for key, entry in value.items()]
    if isinstance(value, set | frozenset):
        return type(value).__name__, sorted(map(repr, map(exactly, value)))
    if isinstance(value, list | tuple):
        return type(value).__name__, [exactly(entry) for entry in value]
    if is_dataclass(value):
        return type(value).__name__, [exactly(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, StandIn):
        return repr(value)
    return type(value).__name__, repr(value)


def backward(answer):
    """Send gradients into whatever can be differentiated."""
    found = [t for t in flat(answer) if isinstance(t, Tensor) and t.requires_grad]
    if found and torch.is_grad_enabled():
        sum(tensor.sum() for tensor in found).backward()


def flat(value):
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        return [leaf for entry in value for leaf in flat(entry)]
    return [value]


def made(entry, stand_in):
    if entry is torch.Generator:
        return torch.Generator().manual_seed(3)
    return stand_in(entry[1:]) if isinstance(entry, str) else entry


def of_function(name, *more):
    def step(stand_in, x):
        function, given = stand_in(name), [made(entry, stand_in) for entry in more]
        answer = function(*given, x) if given and isinstance(given[0], StandIn) else function(x, *given)
        backward(answer)
        own = [tensor.grad for tensor in flat(x) if isinstance(tensor, Tensor) and tensor.is_leaf]
        return [answer, own]

    return step


def of_object(name, method, *, wanted="", again=0):
    def step(stand_in, x):
        made = stand_in(name)(x)
        if wanted:
            return attribute(made, wanted)
        if method == "gradients":
            return made.gradients()
        if method == "__iter__":
            return [entry for _, entry in zip(range(5), made, strict=False)]
        answer = None
        for _ in range(again + 1):
            args = (x,) if method in ("", "__call__", "__getitem__", "__contains__") else ()
            answer = ask(made._link, made._trace, made._target, method, args, {})
            backward(answer)
        return answer

    return step


steps = st.one_of(
    st.sampled_from(FUNCTIONS).map(of_function),
    st.sampled_from(["change_beside", "give_the_generator"]).map(lambda n: of_function(n, torch.Generator)),
    st.integers(0, N_ERRORS - 1).map(lambda n: of_function("fail", n)),
    st.sampled_from([3, 40, 48, 58, 60, 62, 63, 64, 65, 66, 70]).map(lambda n: of_function("deep", n)),
    st.sampled_from([("call", "@received"), ("call", "@Line"), ("the_same_function", "@call")]).map(
        lambda names: of_function(names[0], names[1])
    ),
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(METHODS)).map(lambda pair: of_object(*pair)),
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(ATTRIBUTES)).map(
        lambda pair: of_object(pair[0], "", wanted=pair[1])
    ),
)


def outcome_of(link, x, script, *, gradients=True):
    trace = Trace("a check")
    output = io.StringIO()
    with contextlib.redirect_stdout(output), torch.set_grad_enabled(gradients):
        seen = calls(lambda name: StandIn(link, trace, name), x, script)
    return seen, [exactly(replace(event)) for event in trace.events], trace


def own_copy(value):
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: own_copy(entry) for key, entry in value.items()}
    return type(value)(map(own_copy, value)) if isinstance(value, list | tuple) else value


def both(sitting, things, x, script, **options):
    near = outcome_of(LocalLink(things), own_copy(x), script, **options)
    far = outcome_of(RemoteLink(sitting), own_copy(x), script, **options)
    return near, far


@pytest.mark.filterwarnings("ignore")  # which the zoo gives
@given(values, st.lists(steps, min_size=1, max_size=3), st.booleans())
@settings(
    max_examples=250,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_same_calls_leave_the_same_trace_over_both_links(sitting, things, x, script, gradients):
    near, far = both(sitting, things, x, script, gradients=gradients)
    assert far[0] == near[0]
    assert far[1] == near[1]
    assert not sitting.deaths


CLAIMS = (
    lambda nothing: assert_close(nothing(1), 2.0),
    lambda nothing: nothing(1).sum(),
    lambda nothing: attribute(nothing(1), "x"),
    lambda yielding: assert_close(yielding(1), torch.ones(2)),
    lambda yielding: yielding(1).softmax(-1),
    lambda yielding: len(yielding(1)),
    lambda in_numpy: assert_close(in_numpy(1).max(dim=0).values, torch.tensor(1.0).double()),
    lambda in_numpy: in_numpy(1).softmax(-1),
    lambda through_a_given: through_a_given(1),
    lambda recurse: recurse(1),
    lambda stub: stub(1),
    lambda calls_a_stub: calls_a_stub(1),
    lambda doubled: doubled(),
    lambda doubled: doubled(1, 2),
    lambda same_again: same_again((1, 2, 3))[5],
    lambda same_again: attribute(same_again(2.5), "x"),
    lambda same_again: assert_equal(same_again(2.5), torch.tensor([2])),
    lambda same_again: assert_equal(sum(same_again([2, 3])), 4),
    lambda Plain: attribute(Plain(1), "no_such_attribute"),
    lambda Plain: assert_close(attribute(Plain(None), "x"), 1.0),
    lambda Plain: with_weights(Plain(1), {}),
    lambda makes_an_object: makes_an_object(1).softmax(-1),
    lambda makes_an_object: attribute(makes_an_object(1), "no_such_attribute"),
    lambda Line: assert_close(Line(1).gradients()["weight"], torch.ones(1)),
)


@pytest.mark.parametrize("claim", CLAIMS, ids=range(len(CLAIMS)))
def test_a_claim_fails_in_the_same_words_over_both_links(sitting, things, claim):
    near, far = (examine(claim, link) for link in (LocalLink(things), RemoteLink(sitting)))
    assert (far.result, far.message, far.is_plain) == (near.result, near.message, near.is_plain)
    assert near.result != "passed"
    assert not sitting.deaths


def lines_of(program):
    """How many lines of Python a call runs through."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        program()
    finally:
        sys.settrace(before)
    return count


class ManyObjects:
    """A sitting whose every answer is so many objects."""

    generation = 0

    def __init__(self, number):
        self.number = number

    def ask(self, *args, **kwargs):
        return Reply([Object(index, "thing") for index in range(self.number)])


@pytest.mark.parametrize("far", [False, True])
def test_the_work_for_many_objects_grows_as_their_number(far):
    def asked(number):
        local = LocalLink({"many": lambda: [object() for _ in range(number)]})
        link = RemoteLink(ManyObjects(number)) if far else local
        return lambda: StandIn(link, Trace("a check"), "many")()

    assert lines_of(asked(2000)) < 5 * lines_of(asked(500))
