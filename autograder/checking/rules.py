"""Rules that hold for every exercise, and a test that checks notice when one is broken.

Answers that break one rule and are otherwise right are made from the reference. Each must fail a visible
check, with a message that names the rule, unless the exercise's label `exempt` lists the rule.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

import torch
from torch import Tensor

from autograder.checking.examine import Examined
from autograder.source.homework import FAILED, Exercise
from course.checks.claim import IN_PLACE
from course.checks.plain import copied, mapped, tensors_in

GRADIENT, BATCH, FLOAT64 = "gradient", "batch", "float64"

# Rule → the sentence about it in every homework.
RULES = {
    IN_PLACE: (
        "Do not modify your arguments, unless the exercise says otherwise: `x += …`, `x[…] = …` and "
        "`words.append(…)` change a value that the caller may still need."
    ),
    GRADIENT: "Gradients flow back through what a loss or a layer computes.",
    BATCH: "Each row of a batch gets its own answer.",
    FLOAT64: (
        "Compute in float64. What is computed in float32 is right to seven digits; that is pointed out, and "
        "costs points only where the exercise itself asks for a tensor or a parameter in float64."
    ),
}


def introduction() -> str:
    """The rules in words, as they appear at the beginning of every homework."""
    return "\n".join(["**Rules for every exercise.**\n", *(f"- {sentence}" for sentence in RULES.values())])


Call = Callable[..., Any]
Try = Callable[[Any], Sequence[Examined]]  # the visible checks of the exercise, on a function or class


@dataclass(frozen=True)
class Breach:
    """A way to break a rule: how it changes the reference's answer, and a word that students must read."""

    rule: str
    how: str
    spoil: Callable[[Any, tuple, dict], Any]  # (answer, args, kwargs) → the result instead
    word: str = ""


def violations(exercise: Exercise, reference: Any, visible: Try) -> Iterator[str]:
    """A sentence for each rule whose breach no visible check notices; exercises that train are skipped."""
    yield from (f"{exercise.name} is exempt from {name}, which is not a rule." for name in _unknown(exercise))
    if exercise.trained:
        return
    seen: set[str] = set()
    visible(_with(reference, lambda call, args, kwargs: _observed(call, args, kwargs, seen)))
    for breach in BREACHES:
        if breach.how not in seen or breach.rule in exercise.exempt:
            continue
        if breach.rule == FLOAT64 and exercise.dtype != FLOAT64:
            continue
        done = visible(_breaking(reference, breach))
        if not any(one.result == FAILED and breach.word in one.message for one in done):
            yield f"No visible check of {exercise.name} notices an answer that {breach.how}."


def _unknown(exercise: Exercise) -> list[str]:
    return [name for name in exercise.exempt if name not in RULES]


def _breaking(reference: Any, breach: Breach) -> Any:
    if breach.rule == FLOAT64 and _is_module(reference):
        return _in_float32(reference)

    def spoilt(call: Call, args: tuple, kwargs: dict) -> Any:
        answer = mapped(
            call(*args, **kwargs), lambda part: part.clone() if isinstance(part, Tensor) else part
        )
        return breach.spoil(answer, args, kwargs)

    return _with(reference, spoilt)


def _with(thing: Any, around: Callable[[Call, tuple, dict], Any]) -> Any:
    """The function, or the class with all its methods, with each call from outside made through `around`."""
    if not inspect.isclass(thing):
        return lambda *args, **kwargs: around(thing, args, kwargs)
    methods = {name: method for name, method in vars(thing).items() if inspect.isfunction(method)}
    public = {name: method for name, method in methods.items() if not name.startswith("_")}
    inside: list[str] = []  # methods that are running, whose calls of each other are not wrapped
    return type(thing.__name__, (thing,), {name: _method(public[name], around, inside) for name in public})


def _method(method: Call, around: Callable[[Call, tuple, dict], Any], inside: list[str]) -> Call:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if inside:
            return method(self, *args, **kwargs)
        inside.append(method.__name__)
        try:
            return around(lambda *args, **kwargs: method(self, *args, **kwargs), args, kwargs)
        finally:
            inside.clear()

    return call


def _is_module(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, torch.nn.Module)


def _in_float32(module: type[torch.nn.Module]) -> type:
    """A module class with parameters in the other precision, until it is converted."""

    def build(self: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        module.__init__(self, *args, **kwargs)
        self.float()

    return type(module.__name__, (module,), {"__init__": build})


def _observed(call: Call, args: tuple, kwargs: dict, seen: set[str]) -> Any:
    """Return the answer, and record the ways in which it could break a rule."""
    copies = cast("tuple[tuple, dict]", mapped((args, kwargs), copied))
    answer = call(*args, **kwargs)
    parts, given = tensors_in(answer), tensors_in((args, kwargs))
    reals = [part for part in parts if part.is_floating_point()]
    if given or any(isinstance(entry, list | dict | set) for entry in (*args, *kwargs.values())):
        seen.add(OVERWRITTEN)
    if any(_is_batch(part, given) for part in parts):
        seen.add(FIRST_ROW)
    if any(part.dtype == torch.float64 for part in reals):
        seen.add(SHORT)
    if reals and not {CUT_OFF, HALVED} <= seen and (_needs_gradient(reals) or _depends(call, *copies)):
        seen |= {CUT_OFF, HALVED}
    return answer


def _needs_gradient(tensors: Sequence[Tensor]) -> bool:
    return any(tensor.requires_grad for tensor in tensors)


def _depends(call: Call, args: tuple, kwargs: dict) -> bool:
    """Whether a gradient flows from the answer to the real numbers among the arguments."""
    for tensor in tensors_in((args, kwargs)):
        if tensor.is_floating_point():
            tensor.requires_grad_()
    try:
        with warnings.catch_warnings(action="ignore"):
            return _needs_gradient(tensors_in(call(*args, **kwargs)))
    except RuntimeError:  # what is changed in place on the way, or handed to numpy, has none
        return False


def _is_batch(answer: Tensor, given: Sequence[Tensor]) -> bool:
    rows = answer.shape[0] if answer.ndim else 0
    return rows > 1 and any(tensor.ndim and tensor.shape[0] == rows for tensor in given)


def _overwritten(answer: Any, args: tuple, kwargs: dict) -> Any:
    for entry in (*args, *kwargs.values()):
        if isinstance(entry, list):
            entry.append(None)
        elif isinstance(entry, dict):
            entry["another"] = None
        elif isinstance(entry, set):
            entry.add("another")
    for tensor in tensors_in((args, kwargs)):
        tensor.data.copy_(~tensor.data if tensor.dtype == torch.bool else tensor.data + 1)
    return answer


def _cut_off(answer: Any, *_: Any) -> Any:
    """The tensors detached; a single number as a float."""
    return mapped(
        answer, lambda part: (part.detach() if part.ndim else part.item()) if _is_real(part) else part
    )


def _halved(answer: Any, *_: Any) -> Any:
    """The right values with half of their gradients, because half of the computation is detached."""
    return mapped(answer, lambda part: part / 2 + part.detach() / 2 if _is_real(part) else part)


def _first_row(answer: Any, args: tuple, kwargs: dict) -> Any:
    given = tensors_in((args, kwargs))

    def repeated(part: Any) -> Any:
        is_batch = isinstance(part, Tensor) and _is_batch(part, given)
        return part[:1].expand(part.shape) if is_batch else part

    return mapped(answer, repeated)


def _short(answer: Any, *_: Any) -> Any:
    return mapped(answer, lambda part: part.float() if _is_real(part) else part)


def _is_real(part: object) -> TypeGuard[Tensor]:
    return isinstance(part, Tensor) and part.is_floating_point()


OVERWRITTEN = "modifies its arguments"
CUT_OFF = "lets no gradient through"
HALVED = "lets half of the gradient through"
FIRST_ROW = "gives the first row's answer to the whole batch"
SHORT = "is in float32"

BREACHES = (
    Breach(IN_PLACE, OVERWRITTEN, _overwritten, "in place"),
    Breach(GRADIENT, CUT_OFF, _cut_off, "gradient"),
    Breach(GRADIENT, HALVED, _halved, "gradient"),
    Breach(BATCH, FIRST_ROW, _first_row),
    Breach(FLOAT64, SHORT, _short, "float64"),
)
