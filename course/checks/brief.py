"""Short text for values: how a student sees the value received and the value expected."""

import math
import re
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from course.checks.closeness import Numeric, is_array, is_number, is_truth, tensor_of
from course.checks.trace import Object
from course.language import say

WIDEST = 300  # characters for one value
LONGEST_NAME = 100  # letters of a class
PLAINLY_WRITTEN = 1e7  # numbers from here on are written with an exponent
PRINTED = 1e-3  # relative; closer numbers look the same with four digits
ALIGNING = re.compile(r"(?<=\[) +| +(?=  )")  # spaces that align the columns of a matrix
KINDS: dict[type, str] = {
    str: say("a string"),
    bytes: say("a bytes object"),
    list: say("a list"),
    tuple: say("a tuple"),
    dict: say("a dictionary"),
    set: say("a set"),
    frozenset: say("a frozen set"),
    Tensor: say("a tensor"),
    np.ndarray: say("a numpy array"),
}
GENERATOR = "generator"  # its class, as Python names it
NOT_CALLED = say("a method that was not called")
OF_PYTHON = {
    GENERATOR: say("a generator"),
    "method": NOT_CALLED,
    "builtin_function_or_method": NOT_CALLED,
    "function": say("a function"),
}
MOST_ENTRIES = 30  # of a tensor; of a larger one only the beginning is shown


def number(value: Numeric, digits: int = 4) -> str:
    """One number with at least `digits` significant digits: 0.3333, 30003, 1.2e-07, NaN, -inf."""
    value = value.item() if is_array(value) else value
    if isinstance(value, int) and abs(value) >= 10**18:
        return say("a whole number of {count} digits", count=int(value.bit_length() * math.log10(2)) + 1)
    if isinstance(value, bool | int | complex):
        return str(value)
    if value == 0:
        return "0"  # for -0.0 too
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    whole_digits = len(str(int(abs(value)))) if abs(value) < PLAINLY_WRITTEN else 0
    return f"{value:.{max(digits, whole_digits)}g}"


def apart(received: Numeric, expected: Numeric) -> tuple[str, str]:
    """Two numbers with enough digits to show that they differ."""
    for digits in range(4, 17):
        pair = number(received, digits), number(expected, digits)
        if pair[0] != pair[1]:
            return pair
    return pair


def brief(value: object) -> str:
    """A value on one line, or a small matrix on a few; an ellipsis marks what is cut off."""
    if value is None or is_truth(value) or is_number(value):
        return str(bool(value)) if is_truth(value) else number(value, 6) if is_number(value) else "None"
    if is_array(value):
        return _array(tensor_of(value))
    if class_of(value):
        return kind_name(value)
    text = _container(value) if isinstance(value, dict | list | tuple | set | frozenset) else repr(value)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def brief_pair(received: object, expected: object) -> tuple[str, str]:
    """Two values to compare by eye; of large tensors, the part where they first clearly differ."""
    if is_number(received) and is_number(expected):
        return apart(received, expected)
    arrays = is_array(received) and is_array(expected) and received.ndim and received.shape == expected.shape
    if not arrays:
        return brief(received), brief(expected)
    one, other = tensor_of(received), tensor_of(expected)
    if one.numel() <= MOST_ENTRIES and one.ndim <= 2:
        return _arrays_apart(one, other)
    differing = (one != other) & ~((one != one) & (other != other))
    a, b = (tensor.to(torch.complex128) for tensor in (one, other))
    plainly = differing & ~torch.isclose(a, b, rtol=PRINTED, atol=0.0)
    places = next((mask for mask in (plainly, differing) if mask.any()), None)
    where = [0] * one.ndim if places is None else first_index(places)
    return _window(one, where), _window(other, where)


def first_index(places: Tensor) -> list[int]:
    """The index of the first True in a mask that has at least one."""
    first = int(places.reshape(-1).to(torch.uint8).argmax())
    return [
        int(position) for position in np.unravel_index(first, tuple(places.shape))
    ]  # torch.unravel_index imports sympy


def _window(tensor: Tensor, where: list[int]) -> str:
    """A few entries around an index: `[0, 2, 3:9] = 0.1  0.2 …`."""
    line, start = tensor[tuple(where[:-1])], max(0, where[-1] - 1)
    entries = "  ".join(number(entry) for entry in line[start : start + 6])
    stop = min(start + 6, len(line))
    return f"[{', '.join([*map(str, where[:-1]), f'{start}:{stop}'])}] = {entries}"


def kind_name(value: object) -> str:
    """The kind of a value, with its article: a list, a number, an object of class RNNCell."""
    if value is None:
        return "None"
    if is_truth(value):
        return say("a truth value")
    if is_number(value):
        return say("a number")
    if kind := class_of(value):
        return OF_PYTHON.get(kind) or say("an object of class {kind}", kind=kind)
    return KINDS.get(type(value)) or brief(value)


def class_of(value: object) -> str:
    """The name of a student's object's class, also of its stand-in; "" for plain data."""
    target = value if isinstance(value, Object) else getattr(value, "_target", None)
    return target.kind[:LONGEST_NAME] if isinstance(target, Object) else ""


def _arrays_apart(one: Tensor, other: Tensor) -> tuple[str, str]:
    """Two small arrays of one shape with enough digits to show that they differ."""
    for digits in range(4, 17):
        pair = _array(one, digits), _array(other, digits)
        if pair[0] != pair[1] or torch.equal(one, other):
            break
    return pair


def _array(tensor: Tensor, digits: int = 4) -> str:
    if tensor.numel() <= MOST_ENTRIES and tensor.ndim <= 2:
        rows = tensor.reshape(-1, tensor.shape[-1]) if tensor.numel() else tensor.reshape(0, 1)
        if tensor.numel():
            return _matrix(rows, digits)
        return say("an empty tensor of shape {shape}", shape=shape_text(tensor))
    first = ", ".join(number(entry) for entry in tensor.reshape(-1)[:6])
    dtype = str(tensor.dtype).removeprefix("torch.")
    return say(
        "{dtype} tensor of shape {shape}: {first}, …", dtype=dtype, shape=shape_text(tensor), first=first
    )


def _matrix(rows: Tensor, digits: int) -> str:
    cells = [[number(entry, digits) for entry in row] for row in rows]
    width = max(len(cell) for row in cells for cell in row)
    return "\n".join("[" + "  ".join(cell.rjust(width) for cell in row) + "]" for row in cells)


def shape_text(value: Tensor) -> str:
    """The shape as a tuple: (2, 5)."""
    return str(tuple(value.shape))


def _container(value: dict | list | tuple | set | frozenset) -> str:
    if isinstance(value, dict):
        return "{" + _joined(f"{_in_a_row(k)}: {_in_a_row(v)}" for k, v in value.items()) + "}"
    opening, closing = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
    entries = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
    comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
    return opening + _joined(map(_in_a_row, entries)) + comma + closing


def _in_a_row(entry: object) -> str:
    """An entry of a container: a matrix on one line, [[1  2], [3  4]]."""
    text = brief(entry)
    if not is_array(entry):
        return text
    row = ALIGNING.sub("", text).replace("\n", ", ")
    return f"[{row}]" if "\n" in text else row


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for part in parts:
        text += ", " + part if text else part
        if len(text) > WIDEST:
            break
    return text
