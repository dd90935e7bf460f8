"""How two values differ, in a clause that states only what can be observed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from course.checks.brief import brief, number
from course.checks.closeness import (
    close,
    is_array,
    is_number,
    near,
    same,
    tensor_of,
    tolerance_between,
)
from course.checks.factors import sizes_of
from course.checks.form_difference import form_difference, is_plain_form
from course.checks.not_finite import not_finite
from course.checks.number_difference import confined, first_difference, lost_total, number_difference
from course.checks.precision import is_in_float32, nearly_same
from course.checks.sequence_difference import (
    list_difference,
    set_difference,
    text_difference,
    where_is_expected,
)
from course.language import joined, say

if TYPE_CHECKING:
    from course.checks.closeness import Numeric

NOTHING = say("the result is None; is a `return` missing?")
LARGEST = 2**1000  # larger integers may not fit into a float

Container = dict | list | tuple
Entry = tuple[object, object, object]  # (place, received, expected)


@dataclass(frozen=True)
class Circumstances:
    """What else is known: the arguments of the call that returned the value, and the tolerance."""

    arguments: Sequence[object] = ()
    tolerance: float | None = None


def describe_difference(
    received: object, expected: object, *, arguments: Sequence[object] = (), tolerance: float | None = None
) -> str:
    """How `received` differs from `expected`, in one clause; "" if they are equal.

    In this order: type, keys, length and shape; NaN and infinities, with the cause if the `arguments` of the
    call show it; a relation that holds for every value, such as a shift by one or a constant factor; where
    the differences are, and the first of them.
    """
    if received is None and expected is not None:
        return NOTHING
    return _described(received, expected, Circumstances(arguments, tolerance))


def _described(received: object, expected: object, known: Circumstances) -> str:
    return form_difference(received, expected) or _value_difference(received, expected, known)


def agrees(received: object, expected: object, compare: Callable[[object, object], bool]) -> bool:
    """Whether the form is right and `compare` is true for each pair of values inside."""
    if form_difference(received, expected):
        return False
    if isinstance(received, dict) and isinstance(expected, dict):
        return all(agrees(received[key], expected[key], compare) for key in expected)
    if isinstance(received, list | tuple) and isinstance(expected, list | tuple):
        return all(agrees(r, e, compare) for r, e in zip(received, expected, strict=True))
    return compare(received, expected)


def is_plain_difference(received: object, expected: object, tolerance: float | None = None) -> bool:
    """Whether the description of a difference says all that is to be mended: a form, or float32."""
    if agrees(received, expected, within(tolerance)):
        return False
    _, one, other = _innermost(received, expected, Circumstances(tolerance=tolerance))
    return is_plain_form(one, other) or _is_in_float32(one, other, tolerance)


def within(tolerance: float | None) -> Callable[[object, object], bool]:
    """A comparison: numbers agree within the tolerance (if None, that of their dtype), all else is equal."""

    def is_near(received: object, expected: object) -> bool:
        if not (is_array(expected) or is_number(expected)):
            return same(received, expected)
        bounds = tolerance_between(received, expected) if tolerance is None else (tolerance, tolerance)
        return near(cast("Numeric", received), expected, bounds)

    return is_near


def _value_difference(received: object, expected: object, known: Circumstances) -> str:
    if any(isinstance(value, int) and abs(value) >= LARGEST for value in (received, expected)):
        one, other = cast("Numeric", received), cast("Numeric", expected)
        return "" if received == expected else where_is_expected(number(one), number(other))
    if is_array(expected) or is_number(expected):
        return _number_difference(tensor_of(received), tensor_of(expected), known)
    if isinstance(received, Container) and isinstance(expected, Container):
        return _entries_difference(received, expected, known)
    if same(received, expected):
        return ""
    if isinstance(received, str | bytes) and isinstance(expected, str | bytes):
        return text_difference(received, expected)
    if isinstance(received, set | frozenset) and isinstance(expected, set | frozenset):
        return set_difference(received, expected)
    return where_is_expected(brief(received), brief(expected))


def _number_difference(received: Tensor, expected: Tensor, known: Circumstances) -> str:
    bounds = tolerance_between(received, expected) if known.tolerance is None else (known.tolerance,) * 2
    if bool(close(received, expected, bounds).all()):
        return ""
    if found := not_finite(received, expected, known.arguments):
        return found
    if _is_in_float32(received, expected, known.tolerance):
        return say(
            "the values are right to seven digits and no further: somewhere your code computes in float32"
        )
    if relation := number_difference(received, expected, sizes_of(known.arguments)):
        return relation
    place = lost_total(received, expected) or confined(received, expected, bounds)
    first = first_difference(received, expected, bounds)
    return joined("; ", [place, first])


def _is_in_float32(received: object, expected: object, tolerance: float | None) -> bool:
    """Whether numbers are right to seven digits; a claim's own tolerance may ask for more."""
    if tolerance is None and (is_array(expected) or is_number(expected)):
        return nearly_same(received, expected)
    return isinstance(received, Tensor) and isinstance(expected, Tensor) and is_in_float32(received, expected)


def _entries_difference(received: Container, expected: Container, known: Circumstances) -> str:
    entries = _entries(received, expected)
    differing = _differing(entries, known)
    if not differing:
        return ""
    columns = _columns([(r, e) for _, r, e in entries])
    if relation := _relation(received, expected, columns, known):
        return relation
    path, one, other = _innermost(received, expected, known)
    where = brief(path[0]) if len(path) == 1 else "".join(f"[{brief(place)}]" for place in path)
    described = _described(one, other, known)
    if len(entries) > 1:
        found = say(
            "{count} of {total} entries differ; the first, at {place}: {difference}",
            count=len(differing),
            total=len(entries),
            place=where,
            difference=described,
        )
    else:
        found = say("at {place}: {difference}", place=where, difference=described)
    return joined("; ", [lost_total(*columns) if columns else "", found])


def _entries(received: Container, expected: Container) -> list[Entry]:
    """The entries of two containers of one form, side by side."""
    places = expected if isinstance(expected, dict) else range(len(expected))
    return [(place, received[place], expected[place]) for place in places]


def _differing(entries: list[Entry], known: Circumstances) -> list[Entry]:
    is_near = within(known.tolerance)
    return [entry for entry in entries if not agrees(entry[1], entry[2], is_near)]


def _relation(
    received: Container, expected: Container, columns: tuple[Tensor, Tensor] | None, known: Circumstances
) -> str:
    """A relation that holds for all entries, such as a shift by one or a constant factor; else ""."""
    relation = ""
    if not isinstance(received, dict) and not isinstance(expected, dict):
        relation = list_difference(received, expected)
    return relation or (number_difference(*columns, sizes_of(known.arguments)) if columns else "")


def _innermost(received: object, expected: object, known: Circumstances) -> tuple[list, object, object]:
    """The nested places that lead to the first difference, and the two values found there."""
    path: list = []
    while (
        isinstance(received, Container)
        and isinstance(expected, Container)
        and not form_difference(received, expected)
    ):
        entries = _entries(received, expected)
        if path and _relation(received, expected, _columns([(r, e) for _, r, e in entries]), known):
            break
        place, received, expected = _differing(entries, known)[0]
        path.append(place)
    return path, received, expected


def _columns(values: list[tuple[Any, Any]]) -> tuple[Tensor, Tensor] | None:
    """The entries of both as two tensors, if there are any and all of them are finite real numbers."""
    if len(values) < 2 or not all(_is_real(entry) for pair in values for entry in pair):
        return None
    one, other = (
        torch.tensor([float(entry) for entry in column], dtype=torch.float64)
        for column in zip(*values, strict=True)
    )
    return (one, other) if one.isfinite().all() and other.isfinite().all() else None


def _is_real(value: object) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < LARGEST
    return is_number(value) and not isinstance(value, complex)
