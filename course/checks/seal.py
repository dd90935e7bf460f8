"""A seal tells whether an outcome is a certain one without telling what that is.

It is a hash of the outcome's structure and of two weighted sums of its real numbers, rounded: equal answers
computed in another way have the same seal, and nobody reads the answer off it.
"""

import hashlib
import math
from itertools import product

import numpy as np
import torch

from course.checks.closeness import is_array, is_number, is_truth, kind_of, tensor_of
from course.checks.trace import Object, Outcome

SLACK = 1e-4  # relative; sums nearer than this are the same, sums farther apart than 1e-2 are not
ZERO = 1e-8  # what rounding leaves of nothing
GOLDEN = (math.sqrt(5) - 1) / 2


def seal(outcome: Outcome) -> str:
    """The seal of an outcome."""
    text, sums = essence(outcome)
    return _hash(text, [_rounded(value) for value in sums])


def bears(outcome: Outcome, sealed: str) -> bool:
    """Whether an outcome is the sealed one; a sum that lies between two roundings may have either."""
    text, sums = essence(outcome)
    choices = [{_rounded(value * (1 + slack)) for slack in (-SLACK, 0.0, SLACK)} for value in sums]
    return any(_hash(text, rounded) == sealed for rounded in product(*choices))


def essence(outcome: object) -> tuple[str, list[float]]:
    """An outcome as a text in which real numbers are left out, and two sums in which they are counted."""
    numbers: list[float] = []
    text = _text(outcome, numbers)
    values = np.asarray(numbers, dtype=float)
    weights = 0.5 + np.modf(GOLDEN * np.arange(1, len(values) + 1))[0]
    return text, [float(weights @ np.abs(values)), float(weights @ np.maximum(values, 0.0))]


def _text(value: object, numbers: list[float]) -> str:
    if isinstance(value, Outcome):
        if value.kind != "value":
            return value.error or value.kind
        return _text((value.value, value.changed), numbers)
    if is_truth(value):
        return str(bool(value))
    if is_number(value):
        return _number_text(value.item() if is_array(value) else value, numbers)
    if is_array(value):
        return _array_text(tensor_of(value), numbers)
    if isinstance(value, list | tuple):
        return "[" + ",".join(_text(entry, numbers) for entry in value) + "]"
    if isinstance(value, dict):
        entries = sorted(value.items(), key=lambda entry: repr(entry[0]))
        return "{" + ",".join(f"{key!r}:{_text(entry, numbers)}" for key, entry in entries) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ",".join(sorted(_text(entry, []) for entry in value)) + "}"
    if isinstance(value, Object):
        return f"object {value.index}"  # whoever makes the same mistake gives the class another name
    return repr(value)


def _number_text(value: int | float | complex, numbers: list[float]) -> str:
    if isinstance(value, complex):
        return _number_text(value.real, numbers) + "+i" + _number_text(value.imag, numbers)
    if not math.isfinite(value):
        return str(float(value))
    if abs(value - round(value)) <= max(ZERO, min(SLACK * abs(value), 0.01)):
        return str(round(value))
    numbers.append(float(value))
    return "#"


def _array_text(tensor: torch.Tensor, numbers: list[float]) -> str:
    kind = kind_of(tensor)
    if kind == "complex":
        return "complex" + _array_text(torch.view_as_real(tensor), numbers)
    entries = tensor.reshape(-1)
    if kind in ("bool", "int"):
        return f"{kind}{tuple(tensor.shape)}{entries.tolist()}"
    finite = entries.isfinite()
    numbers.extend(torch.where(finite, entries, 0).tolist())
    odd = [(i, str(entries[i].item())) for i in (~finite).nonzero().flatten().tolist()]
    return f"{kind}{tuple(tensor.shape)}{odd}"


def _rounded(value: float) -> str:
    return f"{value:.2e}" if value > ZERO else "0"


def _hash(text: str, sums: list[str] | tuple[str, ...]) -> str:
    return hashlib.sha256("|".join([text, *sums]).encode()).hexdigest()[:12]
