"""NaN and infinities where numbers are expected, with the cause if the arguments of the call show it."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from course.checks.brief import first_index, number
from course.checks.closeness import is_array, tensor_of
from course.checks.sequence_difference import where_is_expected
from course.language import joined, say, say_count


def not_finite(received: Tensor, expected: Tensor, arguments: Sequence[object] = ()) -> str:
    """Where NaN or an infinity was received instead of another value; "" if nowhere.

    `arguments`: those of the call that returned `received`.
    """
    if not (received.is_floating_point() or expected.is_floating_point()):
        return ""
    received, expected = received.double(), expected.double()
    if (own := expected.isnan() & ~received.isnan()).any():
        where = first_index(own)
        found = number(received[tuple(where)])
        if not where:
            return say("{found}, but a second result of your code is NaN there", found=found)
        return say(
            "{found} at {place}, but a second result of your code is NaN there", found=found, place=where
        )
    if (nan := received.isnan() & ~expected.isnan()).any():
        return joined("; ", [_placed(_counted(nan, "NaN"), nan), _cause_of_nan(nan, arguments)])
    if (infinite := received.isinf() & expected.isfinite()).any():
        counted = _placed(_counted(infinite, _sign(received[infinite])), infinite)
        return joined("; ", [counted, _cause_of_inf(received, arguments)])
    if (finite := ~received.isinf() & expected.isinf()).any():
        where = first_index(finite)
        difference = where_is_expected(number(received[tuple(where)]), number(expected[tuple(where)]))
        return say("{difference} at {place}", difference=difference, place=where) if where else difference
    return ""


def _counted(places: Tensor, value: str) -> str:
    if places.ndim == 0:
        return say("the result is {relation}", relation=value)
    if places.all():
        return say("every value is {relation}", relation=value)
    return say_count(
        "{count} of {total} values is {value}",
        "{count} of {total} values are {value}",
        int(places.sum()),
        total=places.numel(),
        value=value,
    )


def _placed(counted: str, places: Tensor) -> str:
    if places.ndim == 0 or places.all():
        return counted
    rows = places.all(-1)
    if places.ndim > 1 and (places == rows.unsqueeze(-1)).all():
        return say("{counted}, in whole rows: {rows}", counted=counted, rows=_indices(rows))
    return say("{counted}, first at {place}", counted=counted, place=first_index(places))


def _indices(rows: Tensor) -> str:
    found = [index[0] if len(index) == 1 else index for index in rows.nonzero().tolist()]
    return ", ".join(map(str, found[:4])) + (", …" if len(found) > 4 else "")


def _sign(values: Tensor) -> str:
    return "-inf" if (values < 0).all() else "inf" if (values > 0).all() else "±inf"


def _cause_of_nan(nan: Tensor, arguments: Sequence[object]) -> str:
    for position, argument in enumerate(arguments, 1):
        if is_array(argument):
            argument, name = tensor_of(argument), _name(position, arguments)
            cause = (
                _given_nan(argument, name)
                or _masked_row(argument, name, nan)
                or _zero_times_infinity(argument, name, nan)
                or _overflow(argument, name, nan, say("inf/inf is NaN"))
                or _underflow(argument, name, nan)
            )
            if cause:
                return cause
    return say(
        "NaN results from 0/0, 0 · inf, inf - inf, inf/inf after an overflow, "
        "or a root or logarithm of a negative number"
    )


def _name(position: int, arguments: Sequence[object]) -> str:
    return say("argument {position}", position=position) if len(arguments) > 1 else say("the argument")


def _given_nan(argument: Tensor, name: str) -> str:
    if not argument.is_floating_point() or not argument.isnan().any():
        return ""
    return say("{argument} contains NaN itself", argument=name)


def _masked_row(argument: Tensor, name: str, nan: Tensor) -> str:
    if argument.ndim == 0 or nan.ndim == 0 or not (nan == nan.all(-1, keepdim=True)).all():
        return ""
    zero_by_zero = say("0/0 is NaN")
    kinds = (
        (-math.inf, "-inf", say("the softmax of a row of -inf is 0/0")),
        (0, say("0 or False"), zero_by_zero),
        (1, say("1 or True"), zero_by_zero),
    )
    for value, shown, why in kinds[:1] if nan.all() else kinds:
        if _stands_exactly_at((argument == value).all(-1), nan.all(-1)):
            return say(
                "these are the rows in which {argument} is {value} throughout, and {why}",
                argument=name,
                value=shown,
                why=why,
            )
    return ""


def _stands_exactly_at(places: Tensor, others: Tensor) -> bool:
    try:
        return bool(places.any()) and torch.equal(torch.broadcast_to(places, others.shape), others)
    except RuntimeError:
        return False


def _zero_times_infinity(argument: Tensor, name: str, nan: Tensor) -> str:
    if argument.numel() < 2 or not ((argument == 0) | (argument == 1)).all() or nan.all():
        return ""
    if any((nan == nan.all(axis, keepdim=True)).all() for axis in range(nan.ndim)):
        return ""  # a softmax along this axis is 0/0 there
    for value in (0, 1):
        if _stands_exactly_at(argument == value, nan):
            return say(
                "NaN is exactly where {argument} is {value}, and 0 · inf is NaN", argument=name, value=value
            )
    return ""


def _overflow(argument: Tensor, name: str, found: Tensor, then: str) -> str:
    """A clause saying that exp overflows in exactly the rows of the argument where `found` is; else ""."""
    if not argument.is_floating_point() or argument.numel() == 0 or argument.ndim == 0:
        return ""
    limit = math.log(torch.finfo(argument.dtype).max)
    is_large = argument.isfinite() & (argument > limit)
    if found.ndim == 0 or not _stands_exactly_at(is_large.any(-1), found.any(-1)):
        return ""
    largest = argument[is_large].max().item()
    dtype = str(argument.dtype).removeprefix("torch.")
    return say(
        "{argument} contains {largest:.4g}, and exp overflows above {limit:.0f} in {dtype}; {then}",
        argument=name,
        largest=largest,
        limit=limit,
        dtype=dtype,
        then=then,
    )


def _underflow(argument: Tensor, name: str, nan: Tensor) -> str:
    """A clause saying that NaN is in exactly the rows where exp(x - max of all) underflows to 0; else ""."""
    if not argument.is_floating_point() or argument.ndim < 2 or nan.ndim == 0:
        return ""
    smallest = math.log(torch.finfo(argument.dtype).smallest_normal * torch.finfo(argument.dtype).eps)
    argument = argument.nan_to_num(neginf=0.0)
    is_lost = (argument - argument.max() < smallest).all(-1)
    if not _stands_exactly_at(is_lost, nan.any(-1)):
        return ""
    return say(
        "these are the rows far below {argument}'s largest value, {largest:.4g}: "
        "with it subtracted, their exp is 0, and 0/0 is NaN",
        argument=name,
        largest=argument.max().item(),
    )


def _cause_of_inf(received: Tensor, arguments: Sequence[object]) -> str:
    for position, argument in enumerate(arguments, 1):
        if not is_array(argument):
            continue
        name, then = _name(position, arguments), say("what overflows is inf")
        if cause := _overflow(tensor_of(argument), name, received == math.inf, then):
            return cause
    if (received == -math.inf).any():
        return say("-inf is the logarithm of 0, unless your code writes it down")
    return say("inf results from division by 0, −log 0 or an overflow, unless your code writes it down")
