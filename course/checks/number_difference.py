"""How the numbers of one tensor differ from those of another of the same shape."""

from collections.abc import Mapping

import torch
from torch import Tensor

from course.checks.brief import apart, first_index, number
from course.checks.closeness import close, tolerance_between
from course.checks.factors import factor_text, is_simple, named_factor, named_power, nearly
from course.checks.sequence_difference import where_is_expected
from course.checks.shape_difference import agree, order_name, orders
from course.language import say

MOST_VALUES = 100_000  # in larger tensors the search for relations takes too long
LEAST_RATIOS = 3  # distinct values for which a relation must hold before a cause is named
NOTHING = 1e-12  # a factor smaller than this is what rounding leaves of 0
LEAST_ORDERED = 5  # distinct values that are needed to recognise an order


def number_difference(received: Tensor, expected: Tensor, sizes: Mapping[int, str]) -> str:
    """The relation between the two if one holds for every entry, else ""; both finite, of the same shape.

    `sizes` says what each size found in the arguments measures: {7: "the length of argument 1"}.
    """
    if received.numel() > MOST_VALUES or agree(received, expected):
        return ""  # too large to search, or a difference below the usual tolerance
    if received.dtype == torch.bool:
        is_inverted = (received != expected).all()
        return say("every truth value is inverted") if is_inverted else _rearranged(received, expected)
    if received.numel() == 1:
        return _one_number(received.reshape(()), expected.reshape(()), sizes)
    a, b = received.double(), expected.double()
    return (
        _constants(a, b)
        or _rearranged(received, expected)
        or _factor(a, b, sizes)
        or _normalised(a, b)
        or _function(a, b)
        or _offset(a, b)
        or _along_an_axis(a, b)
    )


def first_difference(received: Tensor, expected: Tensor, tolerance: tuple[float, float] | None = None) -> str:
    """How many values differ, and the first that does."""
    bounds = tolerance_between(received, expected) if tolerance is None else tolerance
    differing = ~close(received, expected, bounds)
    if not differing.any():
        differing = received != expected
    where = first_index(differing)
    one, other = apart(received[tuple(where)], expected[tuple(where)])
    if differing.numel() == 1:
        return where_is_expected(one, other)
    count, total = int(differing.sum()), differing.numel()
    many = say("{count} of {total} values differ", count=count, total=total)
    return say(
        "{many}; the first, at {place}, is {received} where {expected} is expected",
        many=say("all {total} values differ", total=total) if count == total else many,
        place=where,
        received=one,
        expected=other,
    )


def _one_number(received: Tensor, expected: Tensor, sizes: Mapping[int, str]) -> str:
    if not received.is_floating_point() and not expected.is_floating_point():
        excess = int(received) - int(expected)
        if abs(excess) != 1:
            return ""
        return say("one too large") if excess > 0 else say("one too small")
    a, b = float(received), float(expected)
    is_telling = not (is_simple(a) and is_simple(b))
    if a != 0 and b != 0 and (name := named_factor(a / b, sizes if is_telling else {})):
        return say("the result is {relation}", relation=name)
    return _function(received.double().reshape(1), expected.double().reshape(1))


def _constants(a: Tensor, b: Tensor) -> str:
    one, other = a.reshape(-1)[0], b.reshape(-1)[0]
    if not (_nearly_all(a, one.expand_as(a)) and _nearly_all(b, other.expand_as(b))):
        return ""
    shown = apart(one, other)
    return say("every value is {received} where {expected} is expected", received=shown[0], expected=shown[1])


def _rearranged(received: Tensor, expected: Tensor) -> str:
    for order in orders(received, expected):
        if agree(received.permute(order), expected):
            return say("{moved}, the values are right", moved=order_name(order))
    for axis in range(received.ndim):
        is_ordered = expected.unique().numel() >= LEAST_ORDERED
        if is_ordered and agree(received.flip(axis), expected):
            return say("the values are in reverse order along axis {axis}", axis=axis)
        if shift := _shift(received, expected, axis):
            return shift
    return _reordered(received, expected)


def _shift(received: Tensor, expected: Tensor, axis: int) -> str:
    size = received.shape[axis]
    if size < 3:
        return ""
    earlier = say("shifted by one along axis {axis}: each value is expected one place earlier", axis=axis)
    later = say("shifted by one along axis {axis}: each value is expected one place later", axis=axis)
    for steps, found in ((1, earlier), (-1, later)):
        start = max(steps, 0)
        moved = received.narrow(axis, start, size - 1)
        original = expected.narrow(axis, 1 - start, size - 1)
        if agree(moved, original) and original.unique().numel() >= LEAST_ORDERED:
            return found
    return ""


def _reordered(received: Tensor, expected: Tensor) -> str:
    flat = received.reshape(-1).sort().values, expected.reshape(-1).sort().values
    enough = 3 if expected.is_floating_point() else LEAST_ORDERED  # drawn words are equal by chance
    is_ordered = expected.unique().numel() >= enough
    return say("the same values in a different order") if is_ordered and agree(*flat) else ""


def _factor(a: Tensor, b: Tensor, sizes: Mapping[int, str]) -> str:
    factor = _ratio(a, b)
    if factor is None or nearly(factor, 1.0):  # then a is b up to rounding, and there is no factor to name
        return ""
    is_telling = b[b != 0].unique().numel() >= LEAST_RATIOS
    return say("every value is {relation}", relation=factor_text(factor, sizes if is_telling else {}))


def _ratio(a: Tensor, b: Tensor) -> float | None:
    """The factor that turns all of b into a; None if there is none, or too few values to tell."""
    largest = b.abs().argmax()
    if b.reshape(-1)[largest] == 0 or (b != 0).sum() < 2 or (b == b.reshape(-1)[largest]).all():
        return None
    factor = (a.reshape(-1)[largest] / b.reshape(-1)[largest]).item()
    return factor if abs(factor) > NOTHING and _nearly_all(a, b * factor) else None


def _nearly_all(a: Tensor, b: Tensor) -> bool:
    return bool(torch.isclose(a, b, rtol=1e-5, atol=1e-9).all())


def _normalised(a: Tensor, b: Tensor) -> str:
    """A clause about probabilities, or their logarithms, that sum to one along the wrong axis; else ""."""
    if found := _other_axes(a, b):
        return say("the values sum to one along axis {found}, where they should along axis {right}", **found)
    if found := _other_axes(a.exp(), b.exp()):
        return say(
            "the exponentials of the values sum to one along axis {found}, "
            "where they should along axis {right}",
            **found,
        )
    return ""


def _other_axes(a: Tensor, b: Tensor) -> dict[str, object]:
    """An axis along which a sums to one and an axis along which b does, if they share none; else nothing."""
    right, found = _axes_of_ones(b), _axes_of_ones(a)
    return {"found": found[0], "right": right[0]} if right and found and not set(right) & set(found) else {}


def _axes_of_ones(x: Tensor) -> list[int]:
    return [k for k in range(x.ndim) if x.shape[k] > 1 and _nearly_all(x.sum(k), torch.ones_like(x.sum(k)))]


def _function(a: Tensor, b: Tensor) -> str:
    if not _is_telling(a, b):
        return ""
    relations = (
        (say("the exponential of the expected one"), b.exp()),
        (say("the logarithm of the expected one"), b.log()),
        (say("the logarithm to base 2 of the expected one"), b.log2()),
        (say("2 to the power of the expected one"), b.exp2()),
        (say("one minus the expected one"), 1 - b),
    )
    fitting = (name for name, image in relations if image.isfinite().all() and _nearly_all(a, image))
    relation = next(fitting, "") or _power(a.reshape(-1), b.reshape(-1))
    if not relation:
        return ""
    if a.numel() == 1:
        return say("the result is {relation}", relation=relation)
    return say("every value is {relation}", relation=relation)


def _is_telling(a: Tensor, b: Tensor) -> bool:
    """Whether a relation is unlikely to be chance, unlike 1 being the exponential of 0."""
    values = [*a.reshape(-1)[:LEAST_RATIOS].tolist(), *b.reshape(-1)[:LEAST_RATIOS].tolist()]
    return b.unique().numel() >= LEAST_RATIOS or not all(map(is_simple, values))


def _power(a: Tensor, b: Tensor) -> str:
    """A clause if a = b ** power and the power has a name; entries near one say nothing about it."""
    told = (b.log().abs() > 1e-3) & (a > 0) & (b > 0)
    if not ((a > 0) & (b > 0)).all() or not told.any():
        return ""
    power = (a.log() / b.log())[told][0]
    return named_power(power.item()) if _nearly_all(a, b**power) else ""


def _offset(a: Tensor, b: Tensor) -> str:
    difference = a - b
    first = difference.reshape(-1)[0]
    if (
        first == 0
        or not _nearly_all(difference, first.expand_as(difference))
        or nearly(b.max().item(), b.min().item())
    ):
        return ""
    if first > 0:
        return say("every value is {amount} too large", amount=number(first.abs()))
    return say("every value is {amount} too small", amount=number(first.abs()))


def _along_an_axis(a: Tensor, b: Tensor) -> str:
    for axis in range(a.ndim if a.ndim > 1 else 0):
        if a.shape[axis] < 3:
            continue
        difference, ratio = a - b, a / b
        if _constant(difference, axis) and _several(difference, axis, 0.0):
            return say(
                "along axis {axis} all values are off by a constant, a different one for each line", axis=axis
            )
        if ratio.isfinite().all() and _constant(ratio, axis) and _several(ratio, axis, 1.0):
            return say(
                "along axis {axis} all values are off by a constant factor, a different one for each line",
                axis=axis,
            )
    return ""


def _constant(tensor: Tensor, axis: int) -> bool:
    return _nearly_all(tensor, tensor.narrow(axis, 0, 1).expand_as(tensor))


def _several(tensor: Tensor, axis: int, nothing: float) -> bool:
    """Whether the lines along an axis differ from each other, and each from `nothing`."""
    lines = tensor.select(axis, 0).reshape(-1)
    distinct = lines.sort().values.diff().abs() > 1e-4 * lines.abs().max()
    return bool(((lines - nothing).abs() > 1e-4).all()) and int(distinct.sum()) + 1 >= LEAST_RATIOS


def lost_total(received: Tensor, expected: Tensor) -> str:
    """A clause saying that the expected lines along the last axis sum to one, but these do not; else ""."""
    if expected.ndim == 0 or expected.shape[-1] < 2 or received.numel() > MOST_VALUES:
        return ""
    right, found = expected.double().sum(-1), received.double().sum(-1)
    if (expected < 0).any() or not _nearly_all(right, torch.ones_like(right)):
        return ""
    wrong = found[~torch.isclose(found, right, rtol=1e-4)]
    if not wrong.numel():
        return ""
    if expected.ndim == 1:
        return say("the values sum to {total}, the expected ones to 1", total=number(wrong[0]))
    return say(
        "the values sum to {total} along axis {axis}, the expected ones to 1",
        total=number(wrong[0]),
        axis=expected.ndim - 1,
    )


def confined(received: Tensor, expected: Tensor, tolerance: tuple[float, float] | None = None) -> str:
    """Where the differences are, if on one line of an axis or on one side of the diagonal; else ""."""
    differing = ~close(received, expected, tolerance or tolerance_between(received, expected))
    for axis in range(received.ndim):
        others = [k for k in range(received.ndim) if k != axis]
        lines = differing.any(dim=others) if others else differing
        if lines.sum() == 1 and received.shape[axis] > 2:
            index, last = int(lines.nonzero()[0]), received.shape[axis] - 1
            ends = {
                0: say("only the first entry along axis {axis} is wrong", axis=axis),
                last: say("only the last entry along axis {axis} is wrong", axis=axis),
            }
            inside = say("only entry {index} along axis {axis} is wrong", index=index, axis=axis)
            return ends.get(index, inside)
    return _triangle(differing)


def _triangle(differing: Tensor) -> str:
    if differing.ndim < 2 or min(differing.shape[-2:]) < 3:
        return ""
    everywhere = torch.ones_like(differing)
    sides = (
        (say("the values above the diagonal are wrong"), everywhere.triu(1)),
        (say("the values below the diagonal are wrong"), everywhere.tril(-1)),
        (say("the values on the diagonal are wrong"), everywhere.triu() & everywhere.tril()),
        (say("the values on and above the diagonal are wrong"), everywhere.triu()),
        (say("the values on and below the diagonal are wrong"), everywhere.tril()),
    )
    return next((found for found, side in sides if torch.equal(differing, side)), "")
