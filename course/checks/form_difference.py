"""What is wrong with the form of a value: its type, its length, its keys, its shape."""

import torch

from course.checks.brief import GENERATOR, brief, class_of, kind_name
from course.checks.closeness import Array, is_array, is_number, is_truth, kind_of, same, tensor_of
from course.checks.sequence_difference import length_difference, missing_and_extra, where_is_expected
from course.checks.shape_difference import agree, is_right_in_another_shape, shape_difference
from course.language import joined, say

NUMBERS = {
    "bool": say("truth values"),
    "int": say("whole numbers"),
    "float": say("real numbers"),
    "complex": say("complex numbers"),
}
KEYS = {str: say("strings"), tuple: say("tuples"), int: NUMBERS["int"], bytes: say("bytes")}


FROM_YIELD = say("is there a `yield` where a `return` is meant, or `(… for …)` where `[… for …]` is?")


def form_difference(received: object, expected: object) -> str:
    """What is wrong with the type, keys, length or shape; "" if all are as expected."""
    difference = _form_difference(received, expected)
    is_asked = bool(difference) and class_of(received) == GENERATOR
    return joined("; ", [difference, FROM_YIELD]) if is_asked else difference


def _form_difference(received: object, expected: object) -> str:
    for alike in (is_truth, is_number):
        if alike(expected):
            return "" if alike(received) else _not_one(received, expected)
    if is_array(expected):
        return _array_form(received, expected)
    if type(received) is not type(expected):
        return _type_difference(received, expected)
    if isinstance(received, dict) and isinstance(expected, dict):
        return _keys_difference(received, expected)
    if isinstance(received, list | tuple) and isinstance(expected, list | tuple):
        return length_difference(received, expected) if len(received) != len(expected) else ""
    return ""


def _not_one(received: object, expected: object) -> str:
    """What was received instead of one number or truth value."""
    difference = where_is_expected(_came(received), kind_name(expected))
    is_right = _is_wrapped(received, expected)
    return say("{difference}; its value is right", difference=difference) if is_right else difference


def _is_wrapped(received: object, expected: object) -> bool:
    """Whether a tensor holds one value, the expected one."""
    if not is_array(received) or not (is_number(expected) or is_truth(expected)):
        return False
    tensor = tensor_of(received)
    return tensor.numel() == 1 and same(tensor.reshape(()), expected)


def is_plain_form(received: object, expected: object) -> bool:
    """Whether a difference of form says all that is to be mended: another kind of value, or right values in
    another shape."""
    if not form_difference(received, expected):
        return False
    if is_array(received) and is_array(expected):
        one, other = tensor_of(received), tensor_of(expected)
        return one.shape == other.shape or is_right_in_another_shape(one, other)
    if _is_wrapped(received, expected):
        return True
    are_numbers = all(is_array(value) or is_number(value) for value in (received, expected))
    return type(received) is not type(expected) and not are_numbers


def _came(received: object) -> str:
    if is_array(received):
        return _of_shape(received)
    return kind_name(received)


def _of_shape(array: Array) -> str:
    return say("{kind} of shape {shape}", kind=kind_name(array), shape=tuple(array.shape))


def _type_difference(received: object, expected: object) -> str:
    difference = where_is_expected(_came(received), kind_name(expected))
    if isinstance(received, list | tuple) and isinstance(expected, list | tuple) and same(received, expected):
        return say("{difference}; its entries are right", difference=difference)
    return difference


def _array_form(received: object, expected: Array) -> str:
    if is_number(received) and not is_array(received):
        return where_is_expected(kind_name(received), _of_shape(expected))
    if not is_array(received):
        difference = where_is_expected(kind_name(received), kind_name(expected))
        if isinstance(received, list | tuple) and len(received) == 1 and same(received[0], expected):
            return say("{difference}; its only entry is right", difference=difference)
        is_right = _is_right_as_tensor(received, expected)
        return say("{difference}; its values are right", difference=difference) if is_right else difference
    received, expected = tensor_of(received), tensor_of(expected)
    if received.shape != expected.shape:
        return shape_difference(received, expected)
    kinds = kind_of(received), kind_of(expected)
    if kinds[0] == kinds[1]:
        return ""
    found, asked = (NUMBERS[kind] for kind in kinds)
    return say("{received} where {expected} are expected", received=found, expected=asked)


def _is_right_as_tensor(received: object, expected: Array) -> bool:
    if not isinstance(received, list | tuple):
        return False
    try:
        are_tensors = all(isinstance(entry, torch.Tensor) for entry in received)
        rows = torch.stack([*received]) if are_tensors else torch.tensor(received)
        return agree(rows, tensor_of(expected))
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return False


def _keys_difference(received: dict, expected: dict) -> str:
    if received.keys() == expected.keys():
        return ""
    for aspect in (_key_kind, _key_length):
        kinds = [{aspect(key) for key in values} for values in (received, expected)]
        if all(len(kind) == 1 for kind in kinds) and kinds[0] != kinds[1]:
            return say(
                "the keys are {found}, where {asked} are expected: {one} against {other}",
                found=kinds[0].pop(),
                asked=kinds[1].pop(),
                one=brief(next(iter(received))),
                other=brief(next(iter(expected))),
            )
    missing, extra = expected.keys() - received.keys(), received.keys() - expected.keys()
    where = (
        say("of {count} expected keys", count=len(expected)) if missing else say("besides the expected keys")
    )
    return joined(", ", [where, missing_and_extra(missing, extra)])


def _key_kind(key: object) -> str:
    return KEYS.get(type(key), say("of a different type"))


def _key_length(key: object) -> str:
    return say("tuples of {length}", length=len(key)) if isinstance(key, tuple) else _key_kind(key)
