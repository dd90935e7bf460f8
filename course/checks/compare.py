"""The assertions of a check; each says what was expected, what came and in which way they differ."""

import builtins
from collections.abc import Callable

from course.checks.closeness import close, is_array, is_number, same, tensor_of, tolerance_between
from course.checks.difference import describe_difference, form_difference
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.trace import Object

__all__ = [
    "Mismatch",
    "assert_close",
    "assert_equal",
    "assert_raises",
    "assert_true",
    "same",
]


class Mismatch(AssertionError):
    """A claim does not hold; carries what was received, what was expected and in which way they differ."""

    def __init__(
        self, explanation: str, received: object = None, expected: object = None, what: str = ""
    ) -> None:
        self.received, self.expected, self.explanation, self.what = received, expected, explanation, what
        super().__init__(f"{what}: {explanation}" if what else explanation)


def assert_close(
    received: object, expected: object, *, tolerance: float | None = None, what: str = ""
) -> None:
    """Numbers, tensors and containers of them agree within `tolerance` (relative and absolute; by dtype if None)."""
    if not _close(received, expected, tolerance):
        raise Mismatch(describe_difference(received, expected), received, expected, what)


def _close(received: object, expected: object, tolerance: float | None) -> bool:
    if form_difference(received, expected):
        return False
    if is_array(expected) or is_number(expected):
        bounds = tolerance_between(received, expected) if tolerance is None else (tolerance, tolerance)
        return bool(close(tensor_of(received), tensor_of(expected), bounds).all())
    if isinstance(expected, dict):
        return all(_close(received[key], expected[key], tolerance) for key in expected)
    if isinstance(expected, list | tuple):
        return all(_close(r, e, tolerance) for r, e in zip(received, expected, strict=True))
    return same(received, expected)


def assert_equal(received: object, expected: object, *, what: str = "") -> None:
    """Exactly equal, for ints, strings, lists and dicts; tensors entry by entry."""
    if not _equal(received, expected):
        raise Mismatch(describe_difference(received, expected), received, expected, what)


def _equal(received: object, expected: object) -> bool:
    if form_difference(received, expected):
        return False
    if is_array(expected):
        return bool(close(tensor_of(received), tensor_of(expected), (0.0, 0.0)).all())
    if isinstance(expected, dict):
        return all(_equal(received[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return all(_equal(r, e) for r, e in zip(received, expected, strict=True))
    return bool(received == expected)


def assert_true(statement: object, message: str) -> None:
    """The statement holds; `message` says what does not when it fails."""
    if not bool(statement):
        raise Mismatch(message)


def assert_raises(error: type[BaseException], function: Callable, *arguments: object) -> None:
    """Calling the function raises this error or one derived from it."""
    try:
        value = function(*arguments)
    except (NotWritten, Unreachable):
        raise
    except StudentError as problem:
        if not _is_a(problem, error):
            raise Mismatch(f"it raised {problem.error} where {error.__name__} is expected") from problem
    except error:
        return
    else:
        raise Mismatch(f"no error where {error.__name__} is expected", value, error.__name__)


def _is_a(problem: StudentError, error: type[BaseException]) -> bool:
    known = getattr(builtins, problem.error, None)
    derived = isinstance(known, type) and issubclass(known, error)
    return derived or error.__name__ in (problem.error, *problem.bases)
