"""Answers computed in float32 where float64 is expected: right to seven digits, they count, with a note."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from course.checks.closeness import (
    TOLERANCES,
    is_array,
    is_number,
    kind_of,
    near,
    same,
    tensor_of,
    tolerance_between,
)
from course.checks.plain import tensors_in
from course.language import say

if TYPE_CHECKING:
    from course.checks.closeness import Numeric

SEVEN_DIGITS = 3e-6  # of the largest number of an answer: a few times what float32 rounds away
COUNTS = say(
    "Your numbers are right to seven digits and no further: somewhere your code computes in float32, where "
    "float64 is asked for. That costs nothing here."
)


@dataclass
class Precision:
    """The precision that one claim requires, and whether an answer had less."""

    counts: bool  # whether seven digits are enough
    is_short: bool = False  # whether an answer had no more


_OF_THE_CLAIM: ContextVar[Precision | None] = ContextVar("precision", default=None)


@contextlib.contextmanager
def precision(*, counts: bool) -> Iterator[Precision]:
    """While a claim is examined: whether answers that are right to seven digits count."""
    here = Precision(counts)
    token = _OF_THE_CLAIM.set(here)
    try:
        yield here
    finally:
        _OF_THE_CLAIM.reset(token)


def seven_digits_count() -> bool:
    """Whether an answer that is no more exact than float32 may pass here; if so, that is recorded."""
    here = _OF_THE_CLAIM.get()
    if here is None or not here.counts:
        return False
    here.is_short = True
    return True


def note_precision(received: object, expected: object) -> None:
    """Record that an answer in float32 was compared with one in float64 and is close enough to it."""
    pairs = zip(tensors_in(received), tensors_in(expected), strict=False)
    if any(one.dtype == torch.float32 and other.dtype == torch.float64 for one, other in pairs):
        seven_digits_count()


def nearly_same(received: object, expected: object) -> bool:
    """Whether two numbers, or arrays of one shape, agree up to what float32 rounds away."""
    if not (is_array(expected) or is_number(expected)):
        return same(received, expected)
    one, other = cast("Numeric", received), cast("Numeric", expected)
    if near(one, other, tolerance_between(one, other)):
        return True
    a, b = tensor_of(one), tensor_of(other)
    if {kind_of(a), kind_of(b)} != {"float"}:
        return False
    if is_in_float32(a, b):
        return True
    is_finite = b.isfinite()
    largest = b[is_finite].abs().max().item() if is_finite.any() else 0.0
    return near(a, b, (0.0, SEVEN_DIGITS * largest))


def is_in_float32(received: Tensor, expected: Tensor) -> bool:
    """Whether float64 values are right, but only to the precision of float32."""
    if received.dtype != torch.float64 or expected.dtype != torch.float64:
        return False
    is_short = torch.equal(received.float().double(), received) and not torch.equal(
        received.bfloat16().double(), received
    )
    return is_short and near(received, expected, TOLERANCES[torch.float32])
