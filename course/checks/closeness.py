"""When two outcomes count as equal: as near as their precision lets two correct ways of computing them be."""

from numbers import Number

import numpy as np
import torch
from torch import Tensor

from course.checks.trace import Object, Outcome, Thing

# dtype → (relative, absolute): a wrong formula differs by far more, another order of summation by far less.
TOLERANCES = {
    torch.float64: (1e-6, 1e-9),
    torch.float32: (1e-4, 1e-6),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (2e-2, 1e-2),
}
PYTHON_NUMBER = (1e-5, 1e-8)  # often .item() of a float32 tensor


def is_number(value: object) -> bool:
    """Whether the value is one number: int, float, complex, or a tensor or array without axes; truth values are not."""
    if isinstance(value, Tensor | np.ndarray):
        return value.ndim == 0 and kind_of(value) != "bool"
    return isinstance(value, Number) and not isinstance(value, bool)


def is_array(value: object) -> bool:
    """Whether the value is a tensor or a numpy array."""
    return isinstance(value, Tensor | np.ndarray)


def tensor_of(value: object) -> Tensor:
    """The value as a tensor cut from its history."""
    return value.detach() if isinstance(value, Tensor) else torch.as_tensor(value)


def kind_of(array: Tensor | np.ndarray) -> str:
    """bool, int, float or complex: what kind of numbers an array holds."""
    dtype = tensor_of(array).dtype
    if dtype == torch.bool:
        return "bool"
    return "complex" if dtype.is_complex else "float" if dtype.is_floating_point else "int"


def tolerance_between(received: object, expected: object) -> tuple[float, float]:
    """The relative and absolute tolerance for two numbers or arrays: that of the less precise of them."""
    tolerances = [_tolerance(value) for value in (received, expected)]
    return max(tolerances)


def _tolerance(value: object) -> tuple[float, float]:
    if not is_array(value):
        return (0.0, 0.0) if isinstance(value, int) else PYTHON_NUMBER
    dtype = tensor_of(value).dtype
    if dtype.is_complex:
        dtype = dtype.to_real()
    return TOLERANCES.get(dtype, (0.0, 0.0))


def close(received: Tensor, expected: Tensor, tolerance: tuple[float, float]) -> Tensor:
    """Entry by entry, whether two broadcastable tensors agree; NaN agrees with NaN, an infinity with itself."""
    relative, absolute = tolerance
    wide = torch.complex128 if received.is_complex() or expected.is_complex() else torch.float64
    return torch.isclose(received.to(wide), expected.to(wide), rtol=relative, atol=absolute, equal_nan=True)


def same(a: object, b: object) -> bool:
    """Whether two outcomes are equal: same structure, numbers within the tolerance of their precision, NaN like NaN.

    A number is the same as a float, an int or a tensor without axes; a list the same as a tuple.
    """
    if isinstance(a, Outcome) and isinstance(b, Outcome):
        return (a.kind, a.error) == (b.kind, b.error) and same((a.value, a.changed), (b.value, b.changed))
    if is_number(a) and is_number(b) or is_array(a) and is_array(b):
        return _same_numbers(a, b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, torch.Generator) and isinstance(b, torch.Generator):
        return True  # where a call leaves a generator is not part of its answer
    if is_array(a) or is_array(b):
        return False
    kinds = (Object, Thing, set | frozenset)
    return (type(a) is type(b) or any(isinstance(a, k) and isinstance(b, k) for k in kinds)) and a == b


def _same_numbers(a: object, b: object) -> bool:
    tolerance = tolerance_between(a, b)
    if not is_array(a) and not is_array(b) and tolerance == (0.0, 0.0):
        return a == b
    a, b = tensor_of(a), tensor_of(b)
    if a.shape != b.shape or a.ndim > 0 and kind_of(a) != kind_of(b):
        return False
    return bool(close(a, b, tolerance).all())
