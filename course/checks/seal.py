"""Seals (hash commitments): a seal lets you test whether an outcome is a given one, but not read that one.

It is a hash of the outcome's structure and of two weighted sums of its real numbers, rounded. So equal
answers that were computed differently have the same seal.
"""

import hashlib
import math
from itertools import product

import numpy as np
import torch

from course.checks.closeness import as_float, is_array, is_number, is_truth, kind_of, tensor_of
from course.checks.errors import gist
from course.checks.trace import Object, Outcome

SLACK = 1e-5  # relative; sums closer than this count as equal, sums more than 2e-4 apart do not
WHOLE = 1e-4  # relative distance from a whole number below which a number is written as that
LARGE = 1e9  # from here on the last digits of a whole number may be rounding errors
ZERO = 1e-8  # what rounding errors leave of 0
COARSE_SLACK = 1e-2  # the same two, where numbers of half precision went in
COARSE_ZERO = 1e-2
GOLDEN = (math.sqrt(5) - 1) / 2


def seal(outcome: Outcome, *, is_right: bool = False, is_coarse: bool = False) -> str:
    """The seal of an outcome; an error that is the right answer is sealed by its class alone.

    A coarse one is sealed to two digits: what went in had half precision.
    """
    text, sums = essence(outcome)
    return _hash(text + _said(outcome, is_right), [_rounded(value, is_coarse) for value in sums])


def bears(outcome: Outcome, sealed: str, *, is_right: bool = False, is_coarse: bool = False) -> bool:
    """Whether an outcome is the sealed one; a sum halfway between two roundings may have either."""
    text, sums = essence(outcome)
    text += _said(outcome, is_right)
    slack = COARSE_SLACK if is_coarse else SLACK
    choices = [{_rounded(value * (1 + by), is_coarse) for by in (-slack, 0.0, slack)} for value in sums]
    return any(_hash(text, rounded) == sealed for rounded in product(*choices))


def _said(outcome: Outcome, is_right: bool) -> str:
    """The message of a wrong error, because errors of one class may have very different causes."""
    return f": {gist(outcome.message)}" if outcome.kind == "error" and not is_right else ""


def essence(outcome: object) -> tuple[str, list[float]]:
    """An outcome as a text without its real numbers, and two weighted sums of those numbers."""
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
        return f"object {value.index}"  # another student with the same mistake gives the class another name
    return repr(value)


def _number_text(value: int | float | complex, numbers: list[float]) -> str:
    if isinstance(value, complex):
        return _number_text(value.real, numbers) + "+i" + _number_text(value.imag, numbers)
    value = as_float(value) if isinstance(value, int) and abs(value) >= LARGE else value
    if not math.isfinite(value):
        return str(float(value))
    if abs(value) < LARGE and abs(value - round(value)) <= max(ZERO, min(WHOLE * abs(value), 0.01)):
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


def _rounded(value: float, is_coarse: bool) -> str:
    if value <= (COARSE_ZERO if is_coarse else ZERO):
        return "0"
    return f"{value:.1e}" if is_coarse else f"{value:.4e}"


def _hash(text: str, sums: list[str] | tuple[str, ...]) -> str:
    return hashlib.sha256("|".join([text, *sums]).encode()).hexdigest()[:12]
