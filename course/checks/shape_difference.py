"""What is wrong with a tensor's shape, and whether its values would be right in the right shape."""

from itertools import permutations

from torch import Tensor

from course.checks.brief import shape_text
from course.checks.closeness import close, tolerance_between
from course.language import joined, say, say_count

MOST_AXES = 4  # with more axes, their orders are not tried


def shape_difference(received: Tensor, expected: Tensor) -> str:
    """Both shapes, and how they are related if that is clear."""
    shapes = {"received": shape_text(received), "expected": shape_text(expected)}
    plain = say("the shape is {received} where {expected} is expected", **shapes)
    for relation in (_permuted, _ones, _axis_kept, _axis_lost, _one_off, _reshaped):
        if found := relation(received, expected):
            return joined(": ", [plain, found])
    return plain


def agree(received: Tensor, expected: Tensor) -> bool:
    """Whether two tensors have the same shape, and the same values within the tolerance of their dtype."""
    if received.shape != expected.shape:
        return False
    return bool(close(received, expected, tolerance_between(received, expected)).all())


def is_right_in_another_shape(received: Tensor, expected: Tensor) -> bool:
    """Whether the values are right, with axes in another order, or too many or too few of them."""
    if received.numel() != expected.numel() or received.numel() == 0:
        return False
    if agree(received.reshape(-1), expected.reshape(-1)):
        return True
    return any(agree(received.permute(order), expected) for order in orders(received, expected))


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
        return say("transposed")
    if len(moved) == 2:
        return say("with axes {first} and {second} exchanged", first=moved[0], second=moved[1])
    return say("with its axes in the order {order}", order=order)


def _permuted(received: Tensor, expected: Tensor) -> str:
    candidates = orders(received, expected)
    for order in candidates:
        if agree(received.permute(order), expected):
            return say("{moved}, it has the expected values", moved=order_name(order))
    if not candidates:
        return ""
    return say("{moved}, it has the expected shape, but not the values", moved=order_name(candidates[0]))


def _ones(received: Tensor, expected: Tensor) -> str:
    if received.squeeze().shape != expected.squeeze().shape:
        return ""
    excess = received.ndim - expected.ndim
    if excess == 0:
        return ""
    is_right = agree(received.squeeze(), expected.squeeze())
    values = say("the values are right") if is_right else say("the values differ too")
    if excess < 0:
        axes = say_count("{count} axis of size 1 too few", "{count} axis of size 1 too few", -excess)
    else:
        axes = say_count("{count} axis of size 1 too many", "{count} axis of size 1 too many", excess)
    return joined("; ", [axes, values])


def _axis_kept(received: Tensor, expected: Tensor) -> str:
    axis = _extra_axis(received, expected)
    if axis is None:
        return ""
    if agree(received.sum(axis), expected):
        return say("its sum over axis {axis} would be right", axis=axis)
    if agree(received.double().mean(axis), expected):
        return say("its mean over axis {axis} would be right", axis=axis)
    return say("axis {axis}, of size {size}, is one too many", axis=axis, size=received.shape[axis])


def _axis_lost(received: Tensor, expected: Tensor) -> str:
    axis = _extra_axis(expected, received)
    if axis is None:
        return ""
    flat = expected.reshape(-1)
    is_varied = bool((flat != flat[:1]).any())
    if is_varied and agree(received, expected.sum(axis)):
        return say("it is the sum of the expected values over axis {axis}", axis=axis)
    if is_varied and agree(received, expected.double().mean(axis)):
        return say("it is the mean of the expected values over axis {axis}", axis=axis)
    return say("axis {axis}, of size {size}, is missing", axis=axis, size=expected.shape[axis])


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
    said = (_one_too_few if missing > 0 else _one_too_many)(axis)
    for at, start in ((1, 0), (2, 1)):  # without the last, and without the first
        if agree(shorter, longer.narrow(axis, start, shorter.shape[axis])):
            return said[at]
    return said[0]


def _one_too_few(axis: int) -> tuple[str, str, str]:
    return (
        say("one too few along axis {axis}", axis=axis),
        say("one too few along axis {axis}: the last is missing", axis=axis),
        say("one too few along axis {axis}: the first is missing", axis=axis),
    )


def _one_too_many(axis: int) -> tuple[str, str, str]:
    return (
        say("one too many along axis {axis}", axis=axis),
        say("one too many along axis {axis}: the last is superfluous", axis=axis),
        say("one too many along axis {axis}: the first is superfluous", axis=axis),
    )


def _only_differing_axis(received: Tensor, expected: Tensor) -> int | None:
    if received.ndim != expected.ndim:
        return None
    differing = [k for k in range(received.ndim) if received.shape[k] != expected.shape[k]]
    return differing[0] if len(differing) == 1 else None


def _reshaped(received: Tensor, expected: Tensor) -> str:
    if received.numel() != expected.numel() or received.numel() == 0:
        return ""
    if not agree(received.reshape(-1), expected.reshape(-1)):
        return ""
    return say("the same number of values, in the expected order")
