"""What is wrong with a tensor's shape, and whether its values would be right in the right shape."""

from itertools import permutations

from torch import Tensor

from course.checks.brief import shape_text
from course.checks.closeness import close, tolerance_between

MOST_AXES = 4  # with more axes, their orders are not tried


def shape_difference(received: Tensor, expected: Tensor) -> str:
    """Both shapes, and how they are related if that is clear."""
    plain = f"the shape is {shape_text(received)} where {shape_text(expected)} is expected"
    for relation in (_permuted, _ones, _axis_kept, _axis_lost, _one_off, _reshaped):
        if found := relation(received, expected):
            return f"{plain}: {found}"
    return plain


def agree(received: Tensor, expected: Tensor) -> bool:
    """Whether two tensors have the same shape, and the same values within the tolerance of their dtype."""
    if received.shape != expected.shape:
        return False
    return bool(close(received, expected, tolerance_between(received, expected)).all())


def orders(tensor: Tensor, expected: Tensor) -> list[tuple[int, ...]]:
    """The other orders of the tensor's axes that give the expected shape."""
    if tensor.ndim != expected.ndim or not 2 <= tensor.ndim <= MOST_AXES:
        return []
    own = tuple(range(tensor.ndim))
    return [
        order for order in permutations(own) if order != own and tensor.permute(order).shape == expected.shape
    ]


def order_name(order: tuple[int, ...]) -> str:
    """`transposed`, `with axes 1 and 2 exchanged`, or the order itself."""
    moved = [axis for axis, source in enumerate(order) if axis != source]
    if len(order) == 2:
        return "transposed"
    if len(moved) == 2:
        return f"with axes {moved[0]} and {moved[1]} exchanged"
    return f"with its axes in the order {order}"


def _permuted(received: Tensor, expected: Tensor) -> str:
    candidates = orders(received, expected)
    for order in candidates:
        if agree(received.permute(order), expected):
            return f"{order_name(order)}, it has the expected values"
    return f"{order_name(candidates[0])}, it has the expected shape, but not the values" if candidates else ""


def _ones(received: Tensor, expected: Tensor) -> str:
    if received.squeeze().shape != expected.squeeze().shape:
        return ""
    excess = received.ndim - expected.ndim
    if excess == 0:
        return ""
    values = (
        "the values are right" if agree(received.squeeze(), expected.squeeze()) else "the values differ too"
    )
    return f"{abs(excess)} axis of size 1 too {'many' if excess > 0 else 'few'}; {values}"


def _axis_kept(received: Tensor, expected: Tensor) -> str:
    axis = _extra_axis(received, expected)
    if axis is None:
        return ""
    for name, reduced in (("sum", received.sum(axis)), ("mean", received.double().mean(axis))):
        if agree(reduced, expected):
            return f"its {name} over axis {axis} would be right"
    return f"axis {axis}, of size {received.shape[axis]}, is one too many"


def _axis_lost(received: Tensor, expected: Tensor) -> str:
    axis = _extra_axis(expected, received)
    if axis is None:
        return ""
    for name, reduced in (("sum", expected.sum(axis)), ("mean", expected.double().mean(axis))):
        if agree(received, reduced) and expected.unique().numel() > 1:
            return f"it is the {name} of the expected values over axis {axis}"
    return f"axis {axis}, of size {expected.shape[axis]}, is missing"


def _extra_axis(larger: Tensor, smaller: Tensor) -> int | None:
    """The axis without which `larger` has the shape of `smaller`, if exactly one such axis exists."""
    if larger.ndim != smaller.ndim + 1:
        return None
    shape = tuple(larger.shape)
    fitting = [k for k in range(larger.ndim) if shape[:k] + shape[k + 1 :] == tuple(smaller.shape)]
    return fitting[0] if len(fitting) == 1 else None


def _one_off(received: Tensor, expected: Tensor) -> str:
    axis = _only_differing_axis(received, expected)
    if axis is None:
        return ""
    missing = expected.shape[axis] - received.shape[axis]
    if abs(missing) != 1:
        return ""
    longer, shorter = (expected, received) if missing > 0 else (received, expected)
    few = "few" if missing > 0 else "many"
    for place, start in (("last", 0), ("first", 1)):
        if agree(shorter, longer.narrow(axis, start, shorter.shape[axis])):
            state = "missing" if missing > 0 else "superfluous"
            return f"one too {few} along axis {axis}: the {place} is {state}"
    return f"one too {few} along axis {axis}"


def _only_differing_axis(received: Tensor, expected: Tensor) -> int | None:
    if received.ndim != expected.ndim:
        return None
    differing = [k for k in range(received.ndim) if received.shape[k] != expected.shape[k]]
    return differing[0] if len(differing) == 1 else None


def _reshaped(received: Tensor, expected: Tensor) -> str:
    if received.numel() != expected.numel() or received.numel() == 0:
        return ""
    order = (
        "in the expected order" if agree(received.reshape(-1), expected.reshape(-1)) else "in another order"
    )
    return f"the same number of values, {order}" if order.endswith("expected order") else ""
