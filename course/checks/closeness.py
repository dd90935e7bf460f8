"""When two outcomes count as equal: they differ no more than two correct computations in their dtype may."""

import cmath
import math
from collections.abc import Callable, Mapping
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import torch
from torch import Tensor

from course.checks.plain import tensors_in
from course.checks.trace import Object, Outcome, Thing

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Array = Tensor | np.ndarray
Numeric = int | float | complex | Array  # one number, or an array of them

# dtype → (relative, absolute): a wrong formula differs by far more, another order of summation by far less.
TOLERANCES = {
    torch.float64: (1e-6, 1e-9),
    torch.float32: (1e-4, 1e-6),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (2e-2, 1e-2),
}
SIGNED = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.uint64: torch.int64}
PYTHON_NUMBER = (1e-5, 1e-8)  # often .item() of a float32 tensor
EXACT = (0.0, 0.0)


def is_array(value: object) -> "TypeIs[Array]":
    """Whether the value is a tensor or a numpy array."""
    return isinstance(value, Tensor | np.ndarray)


def is_number(value: object) -> TypeGuard[Numeric]:
    """Whether the value is one number, a tensor without axes included; truth values are not numbers."""
    if is_array(value):
        return value.ndim == 0 and kind_of(value) != "bool"
    return isinstance(value, Number) and not isinstance(value, bool)


def is_truth(value: object) -> bool:
    """Whether the value is one truth value, a tensor without axes included."""
    return isinstance(value, bool) or (is_array(value) and value.ndim == 0 and kind_of(value) == "bool")


def tensor_of(value: object) -> Tensor:
    """The value as a detached tensor to calculate with; Python's numbers keep their full precision."""
    if isinstance(value, Tensor):
        return _signed(value.detach())
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64)
    if isinstance(value, complex):
        return torch.tensor(value, dtype=torch.complex128)
    if isinstance(value, int) and abs(value) >= 2**63:
        return torch.tensor(as_float(value), dtype=torch.float64)
    return _signed(torch.as_tensor(value))


def _signed(numbers: Tensor) -> Tensor:
    """Unsigned numbers in a wider dtype, as torch calculates with few of theirs; beyond 63 bits as floats."""
    if numbers.dtype not in SIGNED:
        return numbers
    signed = numbers.to(SIGNED[numbers.dtype])
    return numbers.to(torch.float64) if (signed < 0).any() else signed


def as_float(value: int) -> float:
    """The nearest float; an integer too large for one becomes infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def kind_of(array: Array) -> str:
    """The kind of numbers in an array: bool, int, float or complex."""
    dtype = tensor_of(array).dtype
    if dtype == torch.bool:
        return "bool"
    return "complex" if dtype.is_complex else "float" if dtype.is_floating_point else "int"


def tolerance_between(received: object, expected: object) -> tuple[float, float]:
    """The relative and absolute tolerance for two numbers or arrays: that of the less precise one."""
    return max(_tolerance(received), _tolerance(expected))


def _tolerance(value: object) -> tuple[float, float]:
    if not is_array(value):
        return EXACT if isinstance(value, int) else PYTHON_NUMBER
    dtype = tensor_of(value).dtype
    return TOLERANCES.get(dtype.to_real() if dtype.is_complex else dtype, EXACT)


def close(received: Tensor, expected: Tensor, tolerance: tuple[float, float]) -> Tensor:
    """Whether two tensors agree, entry by entry; NaN agrees with NaN, an infinity with itself."""
    if kind_of(received) in ("bool", "int") and kind_of(expected) in ("bool", "int"):
        return received == expected
    wide = torch.complex128 if received.is_complex() or expected.is_complex() else torch.float64
    relative, absolute = tolerance
    return torch.isclose(received.to(wide), expected.to(wide), rtol=relative, atol=absolute, equal_nan=True)


def same(a: object, b: object) -> bool:
    """Whether two outcomes are equal: in structure, and in their numbers within the tolerance of their dtype.

    A float, an int and a tensor without axes are all numbers; a list equals a tuple; NaN equals NaN.
    """
    if type(a) is type(b) and type(a) in _COMPARED_DIRECTLY:
        return a == b
    if type(a) is type(b) and type(a) in _COMPARED_ALONE:
        return _COMPARED_ALONE[type(a)](a, b)
    if isinstance(a, Outcome) and isinstance(b, Outcome):
        return (a.kind, a.error) == (b.kind, b.error) and same((a.value, a.changed), (b.value, b.changed))
    for alike, compare in _COMPARISONS:
        if alike(a) or alike(b):
            return alike(a) and alike(b) and compare(a, b)
    return type(a) is type(b) and bool(a == b)


def untouched(given: object, left: object) -> bool:
    """Whether what a call was given is the same after it, and its tensors require gradients as before."""
    return same(given, left) and requirements(given) == requirements(left)


def requirements(value: object) -> list[bool]:
    """Whether each tensor inside nested containers requires a gradient, in order."""
    return [tensor.requires_grad for tensor in tensors_in(value)]


def _same_truths(a: object, b: object) -> bool:
    return bool(a) == bool(b)


def _same_numbers(a: Numeric, b: Numeric) -> bool:
    return near(a, b, tolerance_between(a, b))


def _same_arrays(a: Array, b: Array) -> bool:
    return a.shape == b.shape and kind_of(a) == kind_of(b) and near(a, b, tolerance_between(a, b))


def near(a: Numeric, b: Numeric, tolerance: tuple[float, float]) -> bool:
    """Whether two numbers, or two arrays of one shape, agree throughout."""
    if not is_array(a) and not is_array(b):
        return a == b or (a != a and b != b) or _isclose(a, b, tolerance)
    a, b = tensor_of(a), tensor_of(b)
    return (a.dtype == b.dtype and torch.equal(a, b)) or bool(close(a, b, tolerance).all())


def _isclose(a: complex, b: complex, tolerance: tuple[float, float]) -> bool:
    relative, absolute = tolerance
    try:
        return cmath.isclose(a, b, rel_tol=relative, abs_tol=absolute)
    except OverflowError:  # an integer too large for a float
        return False


def _same_sequences(a: list | tuple, b: list | tuple) -> bool:
    return len(a) == len(b) and (_are_equal(a, b) or all(same(x, y) for x, y in zip(a, b, strict=True)))


def _are_equal(a: list | tuple, b: list | tuple) -> bool:
    """Whether two sequences of one length hold equal plain entries; a quick look that spares most others."""
    kinds = [*map(type, a)]
    return _PLAIN_ENTRIES.issuperset(kinds) and kinds == [*map(type, b)] and [*a] == [*b]


def _same_dicts(a: dict, b: dict) -> bool:
    return a.keys() == b.keys() and _same_sequences([*a.values()], [b[key] for key in a])


def _kinds(*kinds: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kinds)


_COMPARED_DIRECTLY = frozenset({type(None), bool, int, str, bytes})  # as the comparisons below would do
_PLAIN_ENTRIES = _COMPARED_DIRECTLY | {float}  # floats that are equal are near each other, too

# Two values of one of these types need none of the tests below.
_COMPARED_ALONE: Mapping[type, Callable[[Any, Any], bool]] = {
    float: _same_numbers,
    list: _same_sequences,
    tuple: _same_sequences,
    dict: _same_dicts,
}

# Each comparison is used only for values that pass the test beside it.
_COMPARISONS: tuple[tuple[Callable[[object], bool], Callable[[Any, Any], bool]], ...] = (
    (is_truth, _same_truths),
    (is_number, _same_numbers),
    (is_array, _same_arrays),
    (_kinds(list, tuple), _same_sequences),
    (_kinds(dict), _same_dicts),
    (_kinds(set, frozenset), lambda a, b: a == b),
    (_kinds(Object, Thing), lambda a, b: a == b),
    (_kinds(torch.Generator), lambda a, b: True),  # where a call leaves a generator is not part of its answer
)
