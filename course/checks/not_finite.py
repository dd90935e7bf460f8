"""NaN and infinities where numbers are expected, with the cause if the arguments of the call show it."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from course.checks.brief import first_index, number
from course.checks.closeness import is_array, tensor_of


def not_finite(received: Tensor, expected: Tensor, arguments: Sequence[object] = ()) -> str:
    """Where NaN or an infinity was received instead of another value; "" if nowhere.

    `arguments`: those of the call that returned `received`.
    """
    if not (received.is_floating_point() or expected.is_floating_point()):
        return ""
    received, expected = received.double(), expected.double()
    if (own := expected.isnan() & ~received.isnan()).any():
        where = first_index(own)
        return f"{number(received[tuple(where)])}{_at(where)}, but a second result of your code is NaN there"
    if (nan := received.isnan() & ~expected.isnan()).any():
        return f"{_count(nan)} NaN{_place(nan)}; {_cause_of_nan(nan, arguments)}"
    if (infinite := received.isinf() & expected.isfinite()).any():
        found = f"{_count(infinite)} {_sign(received[infinite])}{_place(infinite)}"
        return f"{found}; {_cause_of_inf(received, arguments)}"
    if (finite := ~received.isinf() & expected.isinf()).any():
        where = first_index(finite)
        return (
            f"{number(received[tuple(where)])} where {number(expected[tuple(where)])} is expected{_at(where)}"
        )
    return ""


def _count(places: Tensor) -> str:
    if places.ndim == 0:
        return "the result is"
    if places.all():
        return "every value is"
    return f"{int(places.sum())} of {places.numel()} values {'is' if places.sum() == 1 else 'are'}"


def _place(places: Tensor) -> str:
    if places.ndim == 0 or places.all():
        return ""
    rows = places.all(-1)
    if places.ndim > 1 and (places == rows.unsqueeze(-1)).all():
        return f", in whole rows: {_indices(rows)}"
    return f", first{_at(first_index(places))}"


def _indices(rows: Tensor) -> str:
    found = [index[0] if len(index) == 1 else index for index in rows.nonzero().tolist()]
    return ", ".join(map(str, found[:4])) + (", …" if len(found) > 4 else "")


def _at(index: list[int]) -> str:
    return f" at {index}" if index else ""


def _sign(values: Tensor) -> str:
    return "-inf" if (values < 0).all() else "inf" if (values > 0).all() else "±inf"


def _cause_of_nan(nan: Tensor, arguments: Sequence[object]) -> str:
    for position, argument in enumerate(arguments, 1):
        if is_array(argument):
            argument = tensor_of(argument)
            cause = (
                _given_nan(argument)
                or _masked_row(argument, nan)
                or _zero_times_infinity(argument, nan)
                or _overflow(argument, nan, "inf/inf is NaN")
                or _underflow(argument, nan)
            )
            if cause:
                return _named(cause, position, arguments)
    return (
        "NaN results from 0/0, 0 · inf, inf - inf, inf/inf after an overflow, "
        "or a root or logarithm of a negative number"
    )


def _named(cause: str, position: int, arguments: Sequence[object]) -> str:
    return cause.replace("the argument", f"argument {position}", 1) if len(arguments) > 1 else cause


def _given_nan(argument: Tensor) -> str:
    return (
        "the argument contains NaN itself" if argument.is_floating_point() and argument.isnan().any() else ""
    )


def _masked_row(argument: Tensor, nan: Tensor) -> str:
    if argument.ndim == 0 or nan.ndim == 0 or not (nan == nan.all(-1, keepdim=True)).all():
        return ""
    softmax = "the softmax of a row of -inf is 0/0"
    kinds = ((-math.inf, "-inf", softmax), (0, "0 or False", "0/0 is NaN"), (1, "1 or True", "0/0 is NaN"))
    for value, name, why in kinds[:1] if nan.all() else kinds:
        if _stands_exactly_at((argument == value).all(-1), nan.all(-1)):
            return f"these are the rows in which the argument is {name} throughout, and {why}"
    return ""


def _stands_exactly_at(places: Tensor, others: Tensor) -> bool:
    try:
        return bool(places.any()) and torch.equal(torch.broadcast_to(places, others.shape), others)
    except RuntimeError:
        return False


def _zero_times_infinity(argument: Tensor, nan: Tensor) -> str:
    if argument.numel() < 2 or not ((argument == 0) | (argument == 1)).all() or nan.all():
        return ""
    if any((nan == nan.all(axis, keepdim=True)).all() for axis in range(nan.ndim)):
        return ""  # a softmax along this axis is 0/0 there
    for value in (0, 1):
        if _stands_exactly_at(argument == value, nan):
            return f"NaN is exactly where the argument is {value}, and 0 · inf is NaN"
    return ""


def _overflow(argument: Tensor, found: Tensor, then: str) -> str:
    """A clause saying that exp overflows in exactly the rows of the argument where `found` is; else ""."""
    if not argument.is_floating_point() or argument.numel() == 0 or argument.ndim == 0:
        return ""
    limit = math.log(torch.finfo(argument.dtype).max)
    is_large = argument.isfinite() & (argument > limit)
    if found.ndim == 0 or not _stands_exactly_at(is_large.any(-1), found.any(-1)):
        return ""
    largest = argument[is_large].max().item()
    dtype = str(argument.dtype).removeprefix("torch.")
    return f"the argument contains {largest:.4g}, and exp overflows above {limit:.0f} in {dtype}; {then}"


def _underflow(argument: Tensor, nan: Tensor) -> str:
    """A clause saying that NaN is in exactly the rows where exp(x - max of all) underflows to 0; else ""."""
    if not argument.is_floating_point() or argument.ndim < 2 or nan.ndim == 0:
        return ""
    smallest = math.log(torch.finfo(argument.dtype).smallest_normal * torch.finfo(argument.dtype).eps)
    argument = argument.nan_to_num(neginf=0.0)
    is_lost = (argument - argument.max() < smallest).all(-1)
    if not _stands_exactly_at(is_lost, nan.any(-1)):
        return ""
    largest = f"the argument's largest value, {argument.max():.4g}"
    return f"these are the rows far below {largest}: with it subtracted, their exp is 0, and 0/0 is NaN"


def _cause_of_inf(received: Tensor, arguments: Sequence[object]) -> str:
    for position, argument in enumerate(arguments, 1):
        if is_array(argument) and (
            cause := _overflow(tensor_of(argument), received == math.inf, "what overflows is inf")
        ):
            return _named(cause, position, arguments)
    if (received == -math.inf).any():
        return "-inf is the logarithm of 0, unless your code writes it down"
    return "inf results from division by 0, −log 0 or an overflow, unless your code writes it down"
