"""Whether a student's function can be differentiated: its gradient must equal its measured slope."""

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import cast

import torch
from torch import Tensor

from course.checks.closeness import near
from course.checks.compare import Mismatch
from course.checks.difference import NOTHING
from course.checks.plain import mapped, tensors_in
from course.checks.precision import seven_digits_count
from course.checks.standin import StandIn, as_object
from course.checks.trace import Object
from course.language import say

STEP, TOLERANCE = 1e-5, (1e-4, 1e-6)  # how far to either side the slope is measured, and how well it is known
FINE_STEP = 1e-7  # the same near a bend: where a relu begins, or where a norm divides by next to nothing
FLOAT32_STEP, FLOAT32_TOLERANCE = 3e-3, (2e-2, 2e-2)  # the same of what is computed in float32
UNSEEN, UNSEEN_TOLERANCE = 1e-10, (1e-3, 1e-3)  # a step that float32 does not see, and float64 this well
DIRECTIONS = 2

CUT_OFF = say("by `detach`, `item`, `data`, `requires_grad=False`, `torch.no_grad`, `torch.tensor` or numpy")
NO_GRADIENT = say("no gradient flows back through your result: it was cut off, {by}", by=CUT_OFF)


def assert_differentiable(function: StandIn, *arguments: object) -> None:
    """The gradient that flows back through a call is the slope of what the call computes. Raises Mismatch.

    The slope is measured by finite differences along random directions, in float64, over all real numbers
    among the arguments and all parameters of a module. No right answer is needed.
    """
    call, draw = _Call(function, arguments), torch.Generator().manual_seed(0)
    inputs = [tensor.detach().double().requires_grad_() for tensor in _reals(arguments)]
    outputs = call(inputs, call.weights)
    if not outputs or not all(output.requires_grad for output in outputs):
        raise Mismatch(message=NO_GRADIENT, is_plain=True)
    upstream = [_random(output, draw) for output in outputs]
    _inner(outputs, upstream).backward()
    gradients = [tensor.grad for tensor in inputs] + call.gradients()
    at = [tensor.detach() for tensor in [*inputs, *call.parameters()]]
    for _ in range(DIRECTIONS):
        direction = [_random(tensor, draw) for tensor in at]
        known = [(g, d) for g, d in zip(gradients, direction, strict=True) if g is not None]
        found = _inner(*zip(*known, strict=True)).item()

        def slope(step: float, direction: list[Tensor] = direction) -> float:
            ahead, behind = (
                _inner(call.at([x + side * d for x, d in zip(at, direction, strict=True)]), upstream)
                for side in (step, -step)
            )
            return (ahead - behind).item() / (2 * step)

        if any(near(slope(step), found, TOLERANCE) for step in (STEP, FINE_STEP)):
            continue
        is_short = not near(slope(UNSEEN), slope(STEP), UNSEEN_TOLERANCE)  # of float64 both are the slope
        is_right = is_short and near(slope(FLOAT32_STEP), found, FLOAT32_TOLERANCE)
        if not is_right or not seven_digits_count():
            raise Mismatch(message=_other_slope(call.name), is_plain=True)
    call.at(at)  # a module has its old parameters again


def _other_slope(name: str) -> str:
    return say(
        "the gradient that flows back is not the slope of what `{name}` computes: "
        "part of the computation was cut off, {by}",
        name=name,
        by=CUT_OFF,
    )


class _Call:
    """A call of the student's code as a function of its real tensors: arguments and parameters."""

    def __init__(self, function: StandIn, arguments: tuple) -> None:
        self._function, self._arguments = as_object(function), arguments
        target = function._target
        self.name = target.kind if isinstance(target, Object) else target
        self._is_module = isinstance(target, Object)
        self.weights: dict[str, Tensor] = {}
        self._names: dict[str, str] = {}  # each name of a parameter → the first name of the same parameter
        if self._is_module:
            function.double()
            function.zero_grad()
            self.weights = cast("dict[str, Tensor]", function.state_dict())
            self._names = _first_names(self.weights, function.gradients())

    def __call__(self, inputs: Iterable[Tensor], weights: Mapping[str, Tensor]) -> list[Tensor]:
        if self._is_module:
            self._function.load_state_dict(weights)
        rest = iter(inputs)
        given = mapped(self._arguments, lambda entry: next(rest) if _is_real(entry) else entry)
        answer = self._function(*given)
        if answer is None:
            raise Mismatch(message=NOTHING, is_plain=True)
        return _reals(answer)

    def at(self, tensors: list[Tensor]) -> list[Tensor]:
        """The result for these tensors, which replace the inputs first and then the parameters."""
        firsts = list(dict.fromkeys(self._names.values()))
        n_inputs = len(tensors) - len(firsts)
        moved = dict(zip(firsts, tensors[n_inputs:], strict=True))
        return self(
            tensors[:n_inputs], self.weights | {name: moved[one] for name, one in self._names.items()}
        )

    def parameters(self) -> list[Tensor]:
        """Each parameter once."""
        return [self.weights[name] for name in dict.fromkeys(self._names.values())]

    def gradients(self) -> list[Tensor | None]:
        """The parameters' gradients after a backward pass, in the same order."""
        known = self._function.gradients() if self._is_module else {}
        return [known[name] for name in dict.fromkeys(self._names.values())]


def _first_names(weights: Mapping[str, Tensor], gradients: Mapping[str, object]) -> dict[str, str]:
    """A tied parameter has a gradient under one of its names only; a buffer has none."""
    firsts = {name: name for name in gradients}
    for name, weight in weights.items():
        equal = [one for one in gradients if torch.equal(weights[one], weight)]
        if name not in gradients and equal:
            firsts[name] = max(equal, key=lambda one: _same_ending(one, name))
    return firsts


def _same_ending(one: str, other: str) -> int:
    """How many letters the two names share at their ends."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_real(entry: object) -> bool:
    return isinstance(entry, Tensor) and entry.is_floating_point()


def _reals(value: object) -> list[Tensor]:
    return [tensor for tensor in tensors_in(value) if tensor.is_floating_point()]


def _random(like: Tensor, draw: torch.Generator) -> Tensor:
    return torch.randn(like.shape, generator=draw, dtype=torch.float64)


def _inner(ones: Iterable[Tensor], others: Iterable[Tensor]) -> Tensor:
    """The sum of all products."""
    return torch.stack([(one * other).sum() for one, other in zip(ones, others, strict=True)]).sum()
