"""The assertions of a check; a failure says what was expected, what was received and how they differ.

Where values of the expected form differ, an examined claim goes on, and the first difference is what it says.
"""

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import torch

from course.checks.brief import brief
from course.checks.check_line import UNKNOWN, Compared, compared
from course.checks.closeness import EXACT, is_array, is_number, near, same, tensor_of
from course.checks.difference import NOTHING, agrees, describe_difference, is_plain_difference, within
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.plain import tensors_in
from course.checks.precision import nearly_same, note_precision, seven_digits_count
from course.checks.to_its_end import fail
from course.language import joined, say

if TYPE_CHECKING:
    from course.checks.closeness import Numeric

__all__ = [
    "Mismatch",
    "assert_close",
    "assert_depends",
    "assert_dtype",
    "assert_equal",
    "assert_raises",
    "assert_true",
    "is_close",
    "same",
]

THE_ANSWER = say("the answer")
NEGLIGIBLE = 1e-6  # a smaller change of an answer counts as none


class Mismatch(AssertionError):
    """A claim does not hold: what was received, what was expected, and how they differ.

    what: what is compared, in words. of: what stands for it in the claim. is_plain: whether its message says
    all that is to be mended, so that no hint is needed.
    """

    def __init__(
        self,
        received: object = None,
        expected: object = None,
        *,
        message: str = "",
        what: str = "",
        of: Compared = UNKNOWN,
        tolerance: float | None = None,
        is_plain: bool = False,
    ) -> None:
        super().__init__(message)
        self.of, self.n_parts = of
        self.received, self.expected = received, expected
        self.message, self.what, self.tolerance = message, what, tolerance
        self.is_plain = is_plain or _are_names(received, expected)

    @property
    def needs_no_hint(self) -> bool:
        """Whether a hint would lead elsewhere: what is wrong is said, or is only the form of right values."""
        if self.is_plain or self.message:
            return self.is_plain
        try:
            return is_plain_difference(self.received, self.expected, self.tolerance)
        except Exception:  # whatever a student returns
            return False

    @property
    def explanation(self) -> str:
        """The check's own message, or else how the values differ."""
        return self.explained()

    def explained(self, arguments: Sequence[object] = ()) -> str:
        """The explanation; the arguments of the call that returned the value may add to it."""
        known = say(self.message) if self.message else self._described(arguments)
        return joined(": ", [say(self.what), known]) if self.what else known

    def _described(self, arguments: Sequence[object]) -> str:
        try:
            known = describe_difference(
                self.received, self.expected, arguments=arguments, tolerance=self.tolerance
            )
        except Exception:  # whatever a student returns, the message must not break
            known = say("the values differ")
        return known or say("the values are close, but not close enough")

    def __str__(self) -> str:
        return self.explanation


def _are_names(received: object, expected: object) -> bool:
    """Whether sets of names were compared: those missing and those not expected say it all."""
    sets = received, expected
    return all(isinstance(one, set) and all(isinstance(name, str) for name in one) for one in sets)


def assert_close(
    received: object, expected: object, *, tolerance: float | None = None, what: str = ""
) -> None:
    """Numbers, tensors and containers of them agree within `tolerance`, relative and absolute.

    Without a tolerance, that of their dtype is used; in a claim, unless the dtype is the point, seven digits
    are enough, with a note. Compared in this order: whether anything was returned, type, shape, NaN and
    infinities, values. `what` says what is compared. Raises Mismatch.
    """
    if received is None:  # also where both came from a function that returns nothing
        raise Mismatch(message=NOTHING, what=what, of=compared(), is_plain=True)
    if not is_close(received, expected, tolerance=tolerance):
        problem = Mismatch(received, expected, what=what, of=compared(), tolerance=tolerance)
        fail(problem, goes_on=agrees(received, expected, _is_any))


def is_close(received: object, expected: object, *, tolerance: float | None = None) -> bool:
    """Whether `assert_close` would hold. To catch its Mismatch does not tell: a claim goes on without one."""
    if agrees(received, expected, within(tolerance)):
        note_precision(received, expected)
        return True
    return tolerance is None and agrees(received, expected, nearly_same) and seven_digits_count()


def assert_equal(received: object, expected: object, *, what: str = "") -> None:
    """The values are exactly equal; for whole numbers, strings, lists, dictionaries. Raises Mismatch."""
    if not agrees(received, expected, _exactly):
        problem = Mismatch(received, expected, what=what, of=compared(), tolerance=0.0)
        fail(problem, goes_on=agrees(received, expected, _is_any))


def _is_any(received: object, expected: object) -> bool:
    return True  # only the form counts


def _exactly(received: object, expected: object) -> bool:
    if is_array(expected) or is_number(expected):
        return near(cast("Numeric", received), expected, EXACT)
    return bool(received == expected)


def assert_true(statement: object, message: str, *, is_plain: bool = False, goes_on: bool = False) -> None:
    """The condition holds; `message` says what is wrong if it does not. Raises Mismatch.

    is_plain: whether the message says all that is to be mended, so that no hint is needed. goes_on: whether
    the claim may go on without the condition, as one that compares values may.
    """
    if not bool(statement):
        fail(Mismatch(message=message, is_plain=is_plain), goes_on=goes_on)


def assert_depends(answer: object, elsewhere: object, *, what: str = THE_ANSWER) -> None:
    """An answer differs from `elsewhere`, the answer to an input that needs a different one. Raises Mismatch.

    For numbers, tensors and containers of them. A change of 1e-6 or less, or to NaN, does not count. `what`
    says what should have changed.
    """
    if answer is None:
        raise Mismatch(message=NOTHING, is_plain=True)
    if not _has_moved(answer, elsewhere):
        message = say("{what} is the same for a very different input", what=say(what))
        fail(Mismatch(answer, message=message), goes_on=True)


def _has_moved(answer: object, elsewhere: object) -> bool:
    if isinstance(answer, list | tuple) and isinstance(elsewhere, list | tuple):
        return len(answer) != len(elsewhere) or any(map(_has_moved, answer, elsewhere))
    if isinstance(answer, dict) and isinstance(elsewhere, dict):
        keys = answer.keys()
        return keys != elsewhere.keys() or any(_has_moved(answer[key], elsewhere[key]) for key in keys)
    if not all(is_array(value) or is_number(value) for value in (answer, elsewhere)):
        return not same(answer, elsewhere)
    one, other = tensor_of(answer), tensor_of(elsewhere)
    if one.shape != other.shape:
        return True
    return bool(((one.to(torch.complex128) - other.to(torch.complex128)).abs() > NEGLIGIBLE).any())


def assert_dtype(value: object, dtype: torch.dtype, *, what: str = THE_ANSWER) -> None:
    """All tensors of real numbers have this dtype; `what` says what is examined. Raises Mismatch."""
    for tensor in tensors_in(value):
        if tensor.is_floating_point() and tensor.dtype != dtype:
            asked, found = (str(one).removeprefix("torch.") for one in (dtype, tensor.dtype))
            message = say(
                "{what} is in {found} where {asked} is expected", what=say(what), found=found, asked=asked
            )
            raise Mismatch(message=message, is_plain=True)


def assert_raises(error: type[BaseException], function: Callable, *arguments: object) -> None:
    """Calling the function raises this error, or one derived from it. Raises Mismatch."""
    try:
        value = function(*arguments)
    except (NotWritten, Unreachable):
        raise
    except StudentError as problem:
        if not _is_a(problem, error):
            message = say(
                "{problem}, where {error} is expected", problem=problem.sentence(), error=error.__name__
            )
            fail(Mismatch(message=message), goes_on=True)
    except error:
        pass
    else:
        message = say(
            "no error where {error} is expected; {value} was returned",
            error=error.__name__,
            value=brief(value),
        )
        fail(Mismatch(message=message), goes_on=True)


def _is_a(problem: StudentError, error: type[BaseException]) -> bool:
    known = getattr(builtins, problem.error, None)
    derived = isinstance(known, type) and issubclass(known, error)
    return derived or error.__name__ in (problem.error, *problem.bases)
