"""How the numbers of one tensor differ from those of another of the same shape."""

from collections.abc import Mapping

import torch
from torch import Tensor

from course.checks.brief import apart, first_index, number
from course.checks.closeness import close, tolerance_between
from course.checks.factors import factor_text, is_simple, named_factor, named_power, nearly
from course.checks.shape_difference import agree, order_name, orders

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
        return "every truth value is inverted" if is_inverted else _rearranged(received, expected)
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
        return f"{one} where {other} is expected"
    count, total = int(differing.sum()), differing.numel()
    many = f"all {total} values differ" if count == total else f"{count} of {total} values differ"
    return f"{many}; the first, at {where}, is {one} where {other} is expected"


def _one_number(received: Tensor, expected: Tensor, sizes: Mapping[int, str]) -> str:
    if not received.is_floating_point() and not expected.is_floating_point():
        excess = int(received) - int(expected)
        return f"one too {'large' if excess > 0 else 'small'}" if abs(excess) == 1 else ""
    a, b = float(received), float(expected)
    is_telling = not (is_simple(a) and is_simple(b))
    if a != 0 and b != 0 and (name := named_factor(a / b, sizes if is_telling else {})):
        return f"the result is {name}"
    return _function(received.double().reshape(1), expected.double().reshape(1))


def _constants(a: Tensor, b: Tensor) -> str:
    one, other = a.reshape(-1)[0], b.reshape(-1)[0]
    if not (_nearly_all(a, one.expand_as(a)) and _nearly_all(b, other.expand_as(b))):
        return ""
    shown = apart(one, other)
    return f"every value is {shown[0]} where {shown[1]} is expected"


def _rearranged(received: Tensor, expected: Tensor) -> str:
    for order in orders(received, expected):
        if agree(received.permute(order), expected):
            return f"{order_name(order)}, the values are right"
    for axis in range(received.ndim):
        is_ordered = expected.unique().numel() >= LEAST_ORDERED
        if is_ordered and agree(received.flip(axis), expected):
            return f"the values are in reverse order along axis {axis}"
        if shift := _shift(received, expected, axis):
            return shift
    return _reordered(received, expected)


def _shift(received: Tensor, expected: Tensor, axis: int) -> str:
    size = received.shape[axis]
    if size < 3:
        return ""
    for steps, place in ((1, "earlier"), (-1, "later")):
        start = max(steps, 0)
        moved = received.narrow(axis, start, size - 1)
        original = expected.narrow(axis, 1 - start, size - 1)
        if agree(moved, original) and original.unique().numel() >= LEAST_ORDERED:
            return f"shifted by one along axis {axis}: each value is expected one place {place}"
    return ""


def _reordered(received: Tensor, expected: Tensor) -> str:
    flat = received.reshape(-1).sort().values, expected.reshape(-1).sort().values
    distinct = expected.unique().numel() > 2
    return "the same values in a different order" if distinct and agree(*flat) else ""


def _factor(a: Tensor, b: Tensor, sizes: Mapping[int, str]) -> str:
    factor = _ratio(a, b)
    if factor is None or nearly(factor, 1.0):  # then a is b up to rounding, and there is no factor to name
        return ""
    is_telling = b[b != 0].unique().numel() >= LEAST_RATIOS
    return f"every value is {factor_text(factor, sizes if is_telling else {})}"


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
    for name, x, y in (("values", a, b), ("exponentials of the values", a.exp(), b.exp())):
        right, found = _axes_of_ones(y), _axes_of_ones(x)
        if right and found and not set(right) & set(found):
            return f"the {name} sum to one along axis {found[0]}, where they should along axis {right[0]}"
    return ""


def _axes_of_ones(x: Tensor) -> list[int]:
    return [k for k in range(x.ndim) if x.shape[k] > 1 and _nearly_all(x.sum(k), torch.ones_like(x.sum(k)))]


def _function(a: Tensor, b: Tensor) -> str:
    if not _is_telling(a, b):
        return ""
    relations = (
        ("the exponential of", b.exp()),
        ("the logarithm of", b.log()),
        ("the logarithm to base 2 of", b.log2()),
        ("2 to the power of", b.exp2()),
        ("one minus", 1 - b),
    )
    subject = "the result is" if a.numel() == 1 else "every value is"
    for name, image in relations:
        if image.isfinite().all() and _nearly_all(a, image):
            return f"{subject} {name} the expected one"
    power = _power(a.reshape(-1), b.reshape(-1))
    return f"{subject} {power}" if power else ""


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
    return f"every value is {number(first.abs())} too {'large' if first > 0 else 'small'}"


def _along_an_axis(a: Tensor, b: Tensor) -> str:
    for axis in range(a.ndim if a.ndim > 1 else 0):
        if a.shape[axis] < 3:
            continue
        difference, ratio = a - b, a / b
        if _constant(difference, axis) and _several(difference, axis, 0.0):
            return f"along axis {axis} all values are off by a constant, a different one for each line"
        if ratio.isfinite().all() and _constant(ratio, axis) and _several(ratio, axis, 1.0):
            return f"along axis {axis} all values are off by a constant factor, a different one for each line"
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
    along = f" along axis {expected.ndim - 1}" if expected.ndim > 1 else ""
    return f"the values sum to {number(wrong[0])}{along}, the expected ones to 1" if wrong.numel() else ""


def confined(received: Tensor, expected: Tensor, tolerance: tuple[float, float] | None = None) -> str:
    """Where the differences are, if on one line of an axis or on one side of the diagonal; else ""."""
    differing = ~close(received, expected, tolerance or tolerance_between(received, expected))
    for axis in range(received.ndim):
        others = [k for k in range(received.ndim) if k != axis]
        lines = differing.any(dim=others) if others else differing
        if lines.sum() == 1 and received.shape[axis] > 2:
            index, last = int(lines.nonzero()[0]), received.shape[axis] - 1
            ends = {0: "only the first entry", last: "only the last entry"}
            return f"{ends.get(index, f'only entry {index}')} along axis {axis} is wrong"
    return _triangle(differing)


def _triangle(differing: Tensor) -> str:
    if differing.ndim < 2 or min(differing.shape[-2:]) < 3:
        return ""
    everywhere = torch.ones_like(differing)
    sides = (
        ("above the diagonal", everywhere.triu(1)),
        ("below the diagonal", everywhere.tril(-1)),
        ("on the diagonal", everywhere.triu() & everywhere.tril()),
        ("on and above the diagonal", everywhere.triu()),
        ("on and below the diagonal", everywhere.tril()),
    )
    return next((f"the values {name} are wrong" for name, side in sides if torch.equal(differing, side)), "")
