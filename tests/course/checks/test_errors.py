"""What a student reads of an exception of their own."""

import pytest
import torch

from course.checks.errors import StudentError

PRECISIONS = [
    "expected scalar type Double but found Float",
    "mat1 and mat2 must have the same dtype, but got Double and Float",
    "expected m1 and m2 to have the same dtype, but got: double != float",
    "Index put requires the source and destination dtypes match, got Float for the destination and Double",
    "RNN input dtype (torch.float64) does not match weight dtype (torch.float32).",
    "mixed dtype (CPU): all inputs must share same datatype.",
    "Found dtype Double but expected Float",
]


@pytest.mark.parametrize("message", PRECISIONS)
def test_two_precisions_that_meet_are_told_in_words(message):
    told = StudentError("RuntimeError", message, 3, "return x @ W", name="f").sentence()
    assert told.startswith(f"`f` raised RuntimeError: {message}, at line 3: `return x @ W`. ")
    assert "A float32 tensor meets a float64 one" in told


def test_a_fixed_number_of_axes_is_told_as_one():
    error = StudentError(
        "ValueError", "not enough values to unpack (expected 3, got 2)", 2, "B, T, D = x.shape"
    )
    assert "more or fewer axes than your code names" in error.sentence()


@pytest.mark.parametrize(
    "code",
    [
        lambda x: x.transpose(1, 2),
        lambda x: x.permute(0, 2, 1),
        lambda x: torch.einsum("bqd,bkd->bqk", x, x),
        lambda x: torch.bmm(x, x.mT),
        lambda x: x[:, 0, :],
        lambda x: x.sum(2),
    ],
)
def test_an_axis_that_is_not_there_is_told_as_one(code):
    with pytest.raises((IndexError, RuntimeError)) as found:
        code(torch.zeros(4, 4))
    error = StudentError(found.type.__name__, str(found.value), 2, "…")
    assert "more or fewer axes than your code names" in error.sentence()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (lambda x: 0 < x < 1, "asks there for one truth value"),
        (lambda x: x > 0 and x < 1, "asks there for one truth value"),
        (lambda x: 0 < x.numpy() < 1, "asks there for one truth value"),
        (lambda x: (x > 0) & x < 1, "Is each comparison in brackets"),
        (lambda x: (x > 0).numpy() & x.numpy() < 1, "Is each comparison in brackets"),
    ],
)
def test_conditions_joined_as_for_one_number_are_told_so(code, told):
    with pytest.raises((NotImplementedError, RuntimeError, TypeError, ValueError)) as found:
        code(torch.rand(4))
    error = StudentError(found.type.__name__, str(found.value), 2, "…")
    assert told in error.sentence()
    assert error.is_plain


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("not enough values to unpack (expected 2, got 1)", "a, b = words"),
        ("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "x @ W"),
        ("expected scalar type Long but found Int", "e[x]"),
    ],
)
def test_no_other_error_is_explained(message, text):
    assert StudentError("ValueError", message, 2, text).sentence().endswith(f"`{text}`")


CALLS = [
    ("TypeError", "f() takes 1 positional argument but 2 were given", "those that the exercise names?"),
    ("TypeError", "f() missing 1 required positional argument: 'x'", "those that the exercise names?"),
    ("TypeError", "f() got an unexpected keyword argument 'draw'", "those that the exercise names?"),
    ("TypeError", "'Tensor' object is not callable", "Has something else got its name since"),
    ("AttributeError", "'f' object has no attribute 'load_state_dict'", "Is it an `nn.Module`?"),
]


@pytest.mark.parametrize(("error", "message", "question"), CALLS)
def test_an_error_of_the_checks_own_call_asks_about_what_is_called(error, message, question):
    own = StudentError(error, message, name="f")
    assert question in own.sentence()
    assert own.is_plain
    assert question not in StudentError(error, message, 3, "g(x)", name="f").sentence()


def test_a_method_may_lack_its_self():
    message = "Value.add() takes 1 positional argument but 2 were given"
    assert "Are its parameters `self` and" in StudentError("TypeError", message, name="Value.add").sentence()


@pytest.mark.parametrize(
    ("error", "message"),
    [("RecursionError", "maximum recursion depth exceeded"), ("SystemExit", "None"), ("NameError", "no x")],
)
def test_an_error_that_says_what_is_to_be_mended_is_plain(error, message):
    assert StudentError(error, message, 2, "f(x)").is_plain
    assert not StudentError("ValueError", message, 2, "f(x)").is_plain


def test_numpys_words_for_an_axis_are_explained():
    with pytest.raises(TypeError) as found:
        torch.ones(2).numpy().max(dim=0)
    assert "A numpy array's method takes `axis`" in StudentError("TypeError", str(found.value), 2).sentence()


def test_a_module_without_forward_asks_for_one():
    with pytest.raises(NotImplementedError) as found:
        torch.nn.Module()(1)
    error = StudentError("NotImplementedError", str(found.value))
    assert "Is there a `forward`" in error.sentence()
    assert error.is_plain
