"""The assertions of a check; each says what was expected, what came and in which way they differ."""

import builtins
from collections.abc import Callable

from course.checks.closeness import (
    EXACT,
    close,
    is_array,
    is_number,
    is_truth,
    same,
    tensor_of,
    tolerance_between,
)
from course.checks.difference import describe_difference, form_difference
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.standin import last_outcome

__all__ = [
    "Mismatch",
    "assert_close",
    "assert_equal",
    "assert_raises",
    "assert_true",
    "assert_unchanged",
    "same",
]


class Mismatch(AssertionError):
    """A claim does not hold: what was received, what was expected, and in which way they differ."""

    def __init__(
        self,
        explanation: str,
        received: object = None,
        expected: object = None,
        *,
        what: str = "",
        tolerance: float | None = None,
    ) -> None:
        self.received, self.expected, self.explanation = received, expected, explanation
        self.what, self.tolerance = what, tolerance
        super().__init__(f"{what}: {explanation}" if what else explanation)


def assert_close(
    received: object, expected: object, *, tolerance: float | None = None, what: str = ""
) -> None:
    """Numbers, tensors and containers of them agree within `tolerance`, relative and absolute.

    Without a tolerance that of their dtype holds.

    Looked at in this order: whether anything came, its type, its shape, NaN and infinities, its values.
    Raises Mismatch.
    """
    if not _agree(received, expected, lambda r, e: _within(r, e, tolerance)):
        explanation = describe_difference(received, expected, tolerance=tolerance)
        explanation = explanation or "the values differ by more than is allowed here"
        raise Mismatch(explanation, received, expected, what=what, tolerance=tolerance)


def assert_equal(received: object, expected: object, *, what: str = "") -> None:
    """Exactly equal: for whole numbers, texts, lists, dictionaries. Raises Mismatch."""
    if not _agree(received, expected, _exactly):
        explanation = describe_difference(received, expected) or "the values are close, but not equal"
        raise Mismatch(explanation, received, expected, what=what)


def _agree(received: object, expected: object, compare: Callable[[object, object], bool]) -> bool:
    if form_difference(received, expected):
        return False
    if isinstance(expected, dict):
        return all(_agree(received[key], expected[key], compare) for key in expected)
    if isinstance(expected, list | tuple):
        return all(_agree(r, e, compare) for r, e in zip(received, expected, strict=True))
    return compare(received, expected)


def _within(received: object, expected: object, tolerance: float | None) -> bool:
    if not (is_array(expected) or is_number(expected)):
        return same(received, expected)
    bounds = tolerance_between(received, expected) if tolerance is None else (tolerance, tolerance)
    return bool(close(tensor_of(received), tensor_of(expected), bounds).all())


def _exactly(received: object, expected: object) -> bool:
    if is_array(expected) or is_number(expected) or is_truth(expected):
        return bool(close(tensor_of(received), tensor_of(expected), EXACT).all())
    return bool(received == expected)


def assert_true(statement: object, message: str) -> None:
    """The statement holds; `message` says what does not hold otherwise. Raises Mismatch."""
    if not bool(statement):
        raise Mismatch(message)


def assert_raises(error: type[BaseException], function: Callable, *arguments: object) -> None:
    """Calling the function raises this error, or one derived from it. Raises Mismatch."""
    try:
        value = function(*arguments)
    except (NotWritten, Unreachable):
        raise
    except StudentError as problem:
        if not _is_a(problem, error):
            raise Mismatch(f"{problem.sentence()}, where {error.__name__} is expected") from None
    except error:
        pass
    else:
        raise Mismatch(f"no error where {error.__name__} is expected", value, f"{error.__name__} raised")


def _is_a(problem: StudentError, error: type[BaseException]) -> bool:
    known = getattr(builtins, problem.error, None)
    derived = isinstance(known, type) and issubclass(known, error)
    return derived or error.__name__ in (problem.error, *problem.bases)


def assert_unchanged(function: Callable, *arguments: object, **keywords: object) -> object:
    """Calling the student's function leaves its arguments as they are; gives its answer. Raises Mismatch.

    A check's own tensors never change, since every call is made on copies: this looks at the copies.
    """
    answer = function(*arguments, **keywords)
    changed = last_outcome(function).changed
    if changed is not None:
        left = [*changed[0], *changed[1].values()]
        given = [*arguments, *keywords.values()]
        position = next(i for i, (a, b) in enumerate(zip(left, given, strict=True)) if not same(a, b))
        what = f"argument {position + 1} was changed in place"
        raise Mismatch(
            describe_difference(left[position], given[position]), left[position], given[position], what=what
        )
    return answer
