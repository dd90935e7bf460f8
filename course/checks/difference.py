"""In which way two values differ, in a clause that states only what is there to see."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from course.checks.brief import brief, kind_name
from course.checks.closeness import (
    close,
    is_array,
    is_number,
    is_truth,
    kind_of,
    near,
    same,
    tensor_of,
    tolerance_between,
)
from course.checks.factors import sizes_of
from course.checks.not_finite import not_finite
from course.checks.number_difference import confined, first_difference, number_difference
from course.checks.sequence_difference import (
    length_difference,
    list_difference,
    missing_and_extra,
    set_difference,
    text_difference,
)
from course.checks.shape_difference import shape_difference

NUMBERS = {
    "bool": "truth values",
    "int": "whole numbers",
    "float": "real numbers",
    "complex": "complex numbers",
}


@dataclass(frozen=True)
class Circumstances:
    """What else is known: the arguments of the call that gave the value, and how far it may be off."""

    arguments: Sequence[object] = ()
    tolerance: float | None = None


def describe_difference(
    received: object, expected: object, *, arguments: Sequence[object] = (), tolerance: float | None = None
) -> str:
    """How `received` differs from `expected`, in one clause; "" where they are equal.

    In this order: type, keys, length and shape; NaN and infinities, with the cause where the `arguments` of
    the call show it; a relation that holds for every value, such as a shift by one or a constant factor;
    where the differences lie, and the first of them.
    """
    if form := form_difference(received, expected):
        return form
    return _value_difference(received, expected, Circumstances(arguments, tolerance))


def agrees(received: object, expected: object, compare: Callable[[object, object], bool]) -> bool:
    """Whether the form is right and `compare` holds for each pair of values inside."""
    if form_difference(received, expected):
        return False
    if isinstance(expected, dict):
        return all(agrees(received[key], expected[key], compare) for key in expected)
    if isinstance(expected, list | tuple):
        return all(agrees(r, e, compare) for r, e in zip(received, expected, strict=True))
    return compare(received, expected)


def within(tolerance: float | None) -> Callable[[object, object], bool]:
    """A comparison: numbers within the tolerance, that of their dtype if None, anything else equal."""

    def is_near(received: object, expected: object) -> bool:
        if not (is_array(expected) or is_number(expected)):
            return same(received, expected)
        bounds = tolerance_between(received, expected) if tolerance is None else (tolerance, tolerance)
        return near(received, expected, bounds)

    return is_near


def form_difference(received: object, expected: object) -> str:
    """What is wrong with the type, keys, length or shape; "" if these are as expected."""
    if received is None and expected is not None:
        return "nothing came back (None); a function without `return` gives None"
    for alike in (is_truth, is_number):
        if alike(expected):
            return "" if alike(received) else f"{_came(received)} where {kind_name(expected)} is expected"
    if is_array(expected):
        return _array_form(received, expected)
    if type(received) is not type(expected):
        return _type_difference(received, expected)
    if isinstance(expected, dict):
        return _keys_difference(received, expected)
    if isinstance(expected, list | tuple) and len(received) != len(expected):
        return length_difference(received, expected)
    return ""


def _came(received: object) -> str:
    if is_array(received):
        return f"{kind_name(received)} of shape {tuple(received.shape)}"
    return kind_name(received)


def _type_difference(received: object, expected: object) -> str:
    difference = f"{_came(received)} where {kind_name(expected)} is expected"
    if isinstance(received, list | tuple) and isinstance(expected, list | tuple) and same(received, expected):
        return f"{difference}; its entries are right"
    return difference


def _array_form(received: object, expected: Tensor) -> str:
    if is_number(received) and not is_array(received):
        return f"a number where {kind_name(expected)} of shape {tuple(expected.shape)} is expected"
    if not is_array(received):
        return f"{kind_name(received)} where {kind_name(expected)} is expected"
    received, expected = tensor_of(received), tensor_of(expected)
    if received.shape != expected.shape:
        return shape_difference(received, expected)
    kinds = kind_of(received), kind_of(expected)
    return f"{NUMBERS[kinds[0]]} where {NUMBERS[kinds[1]]} are expected" if kinds[0] != kinds[1] else ""


def _keys_difference(received: dict, expected: dict) -> str:
    if received.keys() == expected.keys():
        return ""
    for aspect in (_key_kind, _key_length):
        kinds = [{aspect(key) for key in values} for values in (received, expected)]
        if all(len(kind) == 1 for kind in kinds) and kinds[0] != kinds[1]:
            keys = f"{brief(next(iter(received)))} against {brief(next(iter(expected)))}"
            return f"the keys are {kinds[0].pop()}, where {kinds[1].pop()} are expected: {keys}"
    missing, extra = expected.keys() - received.keys(), received.keys() - expected.keys()
    return (
        f"of {len(expected)} expected keys, {missing_and_extra(missing, extra)}"
        if missing
        else (f"besides the expected keys, {missing_and_extra(missing, extra)}")
    )


def _key_kind(key: object) -> str:
    return {str: "strings", tuple: "tuples", int: "whole numbers", bytes: "bytes"}.get(
        type(key), "of another type"
    )


def _key_length(key: object) -> str:
    return f"tuples of {len(key)}" if isinstance(key, tuple) else _key_kind(key)


def _value_difference(received: object, expected: object, known: Circumstances) -> str:
    if is_truth(expected):
        return (
            "" if bool(received) == bool(expected) else f"{bool(received)} where {bool(expected)} is expected"
        )
    if is_array(expected) or is_number(expected):
        return _number_difference(tensor_of(received), tensor_of(expected), known)
    if isinstance(expected, str | bytes):
        return "" if received == expected else text_difference(received, expected)
    if isinstance(expected, set | frozenset):
        return set_difference(received, expected)
    if isinstance(expected, dict):
        return _entries_difference(received, expected, list(expected), known)
    if isinstance(expected, list | tuple):
        return _entries_difference(received, expected, range(len(expected)), known)
    return "" if same(received, expected) else f"{brief(received)} where {brief(expected)} is expected"


def _number_difference(received: Tensor, expected: Tensor, known: Circumstances) -> str:
    bounds = tolerance_between(received, expected) if known.tolerance is None else (known.tolerance,) * 2
    if bool(close(received, expected, bounds).all()):
        return ""
    if found := not_finite(received, expected, known.arguments):
        return found
    if relation := number_difference(received, expected, sizes_of(known.arguments)):
        return relation
    first = first_difference(received, expected, bounds)
    place = confined(received, expected, bounds)
    return f"{place}; {first}" if place else first


def _entries_difference(received: object, expected: object, places: Sequence, known: Circumstances) -> str:
    values, is_near = [(received[place], expected[place]) for place in places], within(known.tolerance)
    differing = [place for place, pair in zip(places, values, strict=True) if not agrees(*pair, is_near)]
    if not differing:
        return ""
    if relation := _as_a_whole(received, expected, values, known):
        return relation
    first = differing[0]
    inner = describe_difference(
        received[first], expected[first], arguments=known.arguments, tolerance=known.tolerance
    )
    many = f"{len(differing)} of {len(places)} entries differ; the first, at" if len(places) > 1 else "at"
    return f"{many} {brief(first)}: {inner}"


def _as_a_whole(received: object, expected: object, values: list[tuple], known: Circumstances) -> str:
    """A relation between all entries: those of a list as of a text, those that are numbers as of a tensor."""
    if isinstance(expected, list | tuple) and (relation := list_difference(received, expected)):
        return relation
    if len(values) < 2 or not all(is_number(entry) for pair in values for entry in pair):
        return ""
    columns = [
        torch.stack([tensor_of(entry).double() for entry in column]) for column in zip(*values, strict=True)
    ]
    finite = all(column.isfinite().all() for column in columns)
    return number_difference(*columns, sizes_of(known.arguments)) if finite else ""


def _is_real(value: object) -> bool:
    return is_number(value) and not isinstance(value, complex)
