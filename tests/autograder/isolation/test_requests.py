"""The student's functions and objects, asked from outside, at every level."""

import collections

import numpy as np
import pytest
import torch
from warm_levels import LEVELS, PATIENT, warm_or_skip

from autograder.isolation import Raised
from course.checks.trace import Object, Thing

SOURCE = """import random
import numpy as np
import torch

def double(x): return 2 * x
def itself(x): return x
def follow(x): return x.requires_grad_().square()
def fill(values): values.append(len(values)); values[0] = 'changed'
def draws(): return random.random(), float(np.random.rand()), float(torch.rand(()))
def sample(generator): return torch.rand(3, generator=generator)
def divide(x):
    return 1 / x
def count_up(n):
    for i in range(n):
        yield i
def apply(function, x): return function(x)

class Linear(torch.nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(n_out, n_in, dtype=torch.float64))
        self.bias = torch.nn.Parameter(torch.zeros(n_out, dtype=torch.float64))
        self.n_in = n_in
    def forward(self, x): return x @ self.weight.T + self.bias

class Pairs:
    def __init__(self, items): self.items = items
    def __len__(self): return len(self.items)
    def __getitem__(self, i): return self.items[i], i
    def __contains__(self, item): return item in self.items
    def __eq__(self, other): return True
"""


@pytest.fixture(scope="module", params=LEVELS)
def student(request):
    with warm_or_skip(request.param).student(limits=PATIENT) as student:
        assert student.run(SOURCE).error is None
        yield student


@pytest.mark.parametrize(
    "value",
    [3, 2.5, 1j, "ab", [1, "x"], (1, 2), np.array([1.0, 2.0]), torch.tensor([[1.5]])],
    ids=lambda value: type(value).__name__,
)
def test_plain_values_go_there_and_back(student, value):
    received = student.request("double", "", [value])
    assert type(received) is type(2 * value)
    assert str(received) == str(2 * value)


def test_dictionaries_with_tuple_keys_and_counters_arrive_as_dictionaries(student):
    student.run("def keys(d): return type(d).__name__, sorted(map(str, d))")
    assert student.request("keys", "", [{(1, "a"): 2, "b": 3}]) == ("dict", ["(1, 'a')", "b"])
    assert student.request("keys", "", [collections.Counter("ab")]) == ("dict", ["a", "b"])


def test_what_a_call_does_to_its_arguments_is_told(student):
    assert student.ask("fill", "", [["a", "b"]]).left == ((["changed", "b", 2],), {})
    assert student.ask("double", "", [torch.ones(3)]).left is None
    large = [*range(250_000)]
    assert student.ask("itself", "", [large]).left is None
    assert student.ask("fill", "", [large]).left[0][0][0] == "changed"


def test_an_argument_that_requires_a_gradient_afterwards_comes_back(student):
    (left,), _ = student.ask("follow", "", [torch.ones(2)], gradients=True).left
    assert left.requires_grad
    assert student.ask("follow", "", [torch.ones(2, requires_grad=True)], gradients=True).left is None


def test_a_generator_beside_an_argument_that_is_changed_comes_back_too(student):
    student.run(
        "def shuffle(values, generator):\n    values.append(torch.rand(1, generator=generator).item())"
    )
    (values, generator), _ = student.ask("shuffle", "", [[], torch.Generator().manual_seed(5)]).left
    assert values == [torch.rand(1, generator=torch.Generator().manual_seed(5)).item()]
    assert type(generator) is torch.Generator


def test_a_generator_passed_along_draws_what_it_would_draw_here(student):
    expected = torch.rand(3, generator=torch.Generator().manual_seed(5))
    assert torch.equal(student.request("sample", "", [torch.Generator().manual_seed(5)]), expected)


def test_global_random_numbers_are_the_same_for_the_same_seed(student):
    first = student.request("draws")
    assert student.request("draws") == first
    assert student.request("draws", seed=1) != first


def test_an_error_arrives_with_its_class_message_and_line(student):
    with pytest.raises(Raised) as raised:
        student.request("divide", "", [0])
    fault = raised.value.fault
    assert (fault.class_name, fault.message) == ("ZeroDivisionError", "division by zero")
    assert fault.bases == ("ZeroDivisionError", "ArithmeticError", "Exception", "BaseException")
    assert fault.text == "return 1 / x"
    assert SOURCE.splitlines()[fault.line - 1].strip() == fault.text
    assert str(raised.value) == f"ZeroDivisionError: division by zero (line {fault.line}: return 1 / x)"


def test_an_unknown_name_is_an_error_of_the_students(student):
    with pytest.raises(Raised, match="NameError: name 'attention' is not defined"):
        student.request("attention")


def test_objects_stay_there_and_answer_by_handle(student):
    pairs = student.request("Pairs", "", [["a", "b"]])
    assert (type(pairs), pairs.kind) == (Object, "Pairs")
    assert student.request(pairs, "__len__") == 2
    assert student.request(pairs, "__getitem__", [1]) == ("b", 1)
    assert student.request(pairs, "__contains__", ["a"]) is True
    assert student.request(pairs, "__getattribute__", ["items"]) == ["a", "b"]
    assert student.request("apply", "", [Thing("Pairs"), ["c"]]).kind == "Pairs"


def test_an_object_is_the_same_handle_every_time(student):
    pairs = student.request("Pairs", "", [["a"]])
    assert student.request("itself", "", [pairs]) == pairs
    assert student.request("Pairs", "", [["a"]]) != pairs


def test_generators_are_iterated_step_by_step(student):
    steps = student.request(student.request("count_up", "", [2]), "__iter__")
    assert [student.request(steps, "__next__"), student.request(steps, "__next__")] == [0, 1]
    with pytest.raises(Raised) as end:
        student.request(steps, "__next__")
    assert end.value.fault.class_name == "StopIteration"


def test_modules_take_weights_and_tell_their_parameters(student):
    model = student.request("Linear", "", [2, 1])
    weights = {"weight": torch.tensor([[2.0, 3.0]]), "bias": torch.tensor([1.0])}
    student.request(model, "load_state_dict", [weights])
    assert [name for name, _ in student.request(model, "named_parameters")] == ["weight", "bias"]
    state = student.request(model, "state_dict")
    assert {name: value.tolist() for name, value in state.items()} == {"weight": [[2.0, 3.0]], "bias": [1.0]}
    assert student.request(model, "", [torch.tensor([[1.0, 1.0]], dtype=torch.float64)]).tolist() == [[6.0]]


def test_gradients_are_those_of_the_arguments_and_those_of_the_parameters(student):
    model = student.request("Linear", "", [3, 2])
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    reply = student.ask(model, "", [x], gradients=True)
    assert torch.equal(reply.backward([torch.ones(4, 2).double()])[0], torch.full((4, 3), 2.0).double())
    received = student.request(model, "gradients()")
    assert torch.allclose(received["weight"], x.detach().sum(0).expand(2, 3))
    assert received["bias"].tolist() == [4.0, 4.0]


def test_without_gradients_nothing_leads_back(student):
    assert student.ask("double", "", [torch.ones(2, requires_grad=True)]).backward is None


def test_a_graph_that_nobody_can_go_back_through_is_forgotten(student):
    student.run(
        "import gc\nimport torch\n"
        "def remembered(): gc.collect(); return sum(type(o) is torch.Tensor for o in gc.get_objects())"
    )
    before = student.request("remembered")
    x = torch.ones(2, requires_grad=True)
    kept = [student.ask("double", "", [x], gradients=True) for _ in range(100)]
    assert [reply.backward([torch.ones(2)])[0].tolist() for reply in kept] == [[2.0, 2.0]] * 100
    assert student.request("remembered") >= before + 100
    kept.clear()
    assert student.request("remembered") <= before + 6


def test_a_result_larger_than_a_reply_may_be_is_an_error_with_sizes(student):
    student.run("def large(): return torch.zeros(2**21)")
    with pytest.raises(Raised, match=r"takes 8 MB; at most 4 MB may be returned"):
        student.request("large")
    assert student.request("double", "", [1]) == 2


def test_what_the_grader_cannot_pass_is_the_graders_mistake(student):
    with pytest.raises(TypeError, match="a function is not plain data"):
        student.request("apply", "", [lambda x: x, 1])
    assert student.request("double", "", [1]) == 2


def test_forbidden_names_raise_while_they_are_forbidden(student):
    student.guard(["torch.softmax", "torch.nn.MultiheadAttention"])
    student.run("from torch import softmax\ndef own(x): return softmax(x, -1)")
    with pytest.raises(Raised, match=r"Forbidden: torch.softmax may not be used in this exercise"):
        student.request("own", "", [torch.zeros(2)])
    assert student.run("torch.nn.MultiheadAttention(4, 2)").error.class_name == "Forbidden"
    student.guard([])
    assert student.request("own", "", [torch.zeros(2)]).tolist() == [0.5, 0.5]
    assert student.run("torch.nn.MultiheadAttention(4, 2)").error is None


@pytest.mark.parametrize(
    ("name", "call"),
    [
        (".log_softmax", "getattr(x, 'log_' + 'softmax')(-1)"),
        ("torch.func", "getattr(torch.func, 'gr' + 'ad')(torch.sum)(x)"),
        ("torch.softmax", "getattr(torch.softmax, '__wrapped__', torch.softmax)(x, -1)"),
    ],
)
def test_a_method_a_module_and_what_a_guard_stands_before_are_out_of_a_cells_reach(student, name, call):
    student.guard([name])
    student.run(f"def own(x): return {call}")
    with pytest.raises(Raised, match="Forbidden"):
        student.request("own", "", [torch.ones(2)])
    student.guard([])
    assert student.request("own", "", [torch.ones(2)]).shape == (2,)


def test_a_provided_cell_may_call_a_method_that_a_students_cell_may_not(student):
    student.guard([".softmax"])
    student.run("def given(x): return x.softmax(-1)", name="provided cell helpers")
    student.run("def own(x): return given(x)")
    assert student.request("own", "", [torch.zeros(2)]).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "name", [".backward", "sum", "torch.nn", "torch.no_such_name", "no_such_module.name"]
)
def test_names_that_libraries_use_all_the_time_are_left_to_the_search_of_the_source(student, name):
    student.guard([name])
    student.run("def own(x): return sum(torch.nn.functional.relu(x))")
    assert student.request("own", "", [torch.ones(3)]) == 3
