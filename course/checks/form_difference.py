"""What is wrong with the form of a value: its type, its length, its keys, its shape."""

import torch

from course.checks.brief import brief, kind_name
from course.checks.closeness import Array, is_array, is_number, is_truth, kind_of, same, tensor_of
from course.checks.sequence_difference import length_difference, missing_and_extra
from course.checks.shape_difference import agree, shape_difference

NUMBERS = {
    "bool": "truth values",
    "int": "whole numbers",
    "float": "real numbers",
    "complex": "complex numbers",
}
KEYS = {str: "strings", tuple: "tuples", int: "whole numbers", bytes: "bytes"}


def form_difference(received: object, expected: object) -> str:
    """What is wrong with the type, keys, length or shape; "" if all are as expected."""
    for alike in (is_truth, is_number):
        if alike(expected):
            return "" if alike(received) else f"{_came(received)} where {kind_name(expected)} is expected"
    if is_array(expected):
        return _array_form(received, expected)
    if type(received) is not type(expected):
        return _type_difference(received, expected)
    if isinstance(received, dict) and isinstance(expected, dict):
        return _keys_difference(received, expected)
    if isinstance(received, list | tuple) and isinstance(expected, list | tuple):
        return length_difference(received, expected) if len(received) != len(expected) else ""
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


def _array_form(received: object, expected: Array) -> str:
    if is_number(received) and not is_array(received):
        return f"a number where {kind_name(expected)} of shape {tuple(expected.shape)} is expected"
    if not is_array(received):
        return f"{kind_name(received)} where {kind_name(expected)} is expected{_as_right(received, expected)}"
    received, expected = tensor_of(received), tensor_of(expected)
    if received.shape != expected.shape:
        return shape_difference(received, expected)
    kinds = kind_of(received), kind_of(expected)
    return f"{NUMBERS[kinds[0]]} where {NUMBERS[kinds[1]]} are expected" if kinds[0] != kinds[1] else ""


def _as_right(received: object, expected: Array) -> str:
    """A clause saying that the list would be right as a tensor; "" if it would not."""
    if not isinstance(received, list | tuple):
        return ""
    try:
        values = torch.tensor(received)
    except (TypeError, ValueError, RuntimeError):
        return ""
    return "; its values are right" if agree(values, tensor_of(expected)) else ""


def _keys_difference(received: dict, expected: dict) -> str:
    if received.keys() == expected.keys():
        return ""
    for aspect in (_key_kind, _key_length):
        kinds = [{aspect(key) for key in values} for values in (received, expected)]
        if all(len(kind) == 1 for kind in kinds) and kinds[0] != kinds[1]:
            keys = f"{brief(next(iter(received)))} against {brief(next(iter(expected)))}"
            return f"the keys are {kinds[0].pop()}, where {kinds[1].pop()} are expected: {keys}"
    missing, extra = expected.keys() - received.keys(), received.keys() - expected.keys()
    where = f"of {len(expected)} expected keys" if missing else "besides the expected keys"
    return f"{where}, {missing_and_extra(missing, extra)}"


def _key_kind(key: object) -> str:
    return KEYS.get(type(key), "of a different type")


def _key_length(key: object) -> str:
    return f"tuples of {len(key)}" if isinstance(key, tuple) else _key_kind(key)
