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
    ("message", "text"),
    [
        ("not enough values to unpack (expected 2, got 1)", "a, b = words"),
        ("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "x @ W"),
        ("expected scalar type Long but found Int", "e[x]"),
    ],
)
def test_no_other_error_is_explained(message, text):
    assert StudentError("ValueError", message, 2, text).sentence().endswith(f"`{text}`")
