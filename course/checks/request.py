"""A request on a student's object, performed: the one way, in the notebook as in the sandbox."""

import contextlib
import operator
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.random  # numpy loads it when it is first used: in the middle of the first check
import torch
from torch import Tensor

from course.checks.autograd import Backward, differentiable, pull
from course.checks.errors import NAME_OF
from course.checks.plain import mapped, plain, snapshot
from course.checks.trace import Object, Thing

MOST_OBJECTS = 10_000  # in one answer
GRADIENTS = "gradients()"  # no attribute can have this name
LISTED = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})  # iterators come as lists


def gradients_of(module: torch.nn.Module) -> dict[str, Tensor | None]:
    """The gradients of a module's parameters, by name."""
    return {name: parameter.grad for name, parameter in module.named_parameters()}


# Requests that Python answers in ways of its own; all others are methods by their names.
PROTOCOLS: dict[str, Callable] = {
    "": lambda thing, *args, **kwargs: thing(*args, **kwargs),
    GRADIENTS: gradients_of,
    "__getattribute__": getattr,
    "__getitem__": operator.getitem,
    "__contains__": operator.contains,
    "__len__": len,
    "__iter__": iter,
    "__next__": next,
}


@dataclass(frozen=True)
class Reply:
    """What came of a request."""

    value: object  # plain data in which everything else is an `Object`, or a `Thing` the request has named
    left: object = None  # (args, kwargs) as the call left them; None where they are as they were
    backward: Backward | None = None  # where something in the value can be differentiated


class Objects:
    """The student's objects: those with a name, and those that were returned and have a number outside."""

    def __init__(self, things: Mapping[str, object]) -> None:
        self._things = things
        self._kept: list[object] = []
        self._numbers: dict[int, int] = {}  # by identity: what is kept stays alive

    def request(
        self,
        target: Thing | Object,
        method: str,
        args: tuple,
        kwargs: dict,
        *,
        seed: int,
        gradients: bool,
        take_down: Callable[[object], object] = snapshot,
    ) -> Reply:
        """Seed torch, numpy and random, then call `method` of the target with these very arguments.

        gradients: whether autograd records the call. take_down: what makes the arguments that the call left
        behind a thing of the past; it comes before the value is looked at, which may run code of the student.
        Raises what the student's code raises, NameError for a thing that is not there, and ValueError for an
        answer that is too large to be looked at.
        """
        named: dict[int, Thing] = {}
        inputs: list[Tensor] = []

        def theirs(entry: object) -> object:
            if isinstance(entry, Thing):
                thing = self._named(entry.name)
                named[id(thing)] = entry
                return thing
            if isinstance(entry, Object):
                return self._kept[entry.index]
            return lent(entry, inputs) if gradients and isinstance(entry, Tensor) else entry

        def ours(value: object) -> Object | Thing:
            return named.get(id(value)) or self._number_of(value)

        seed_everything(seed)
        with torch.set_grad_enabled(gradients):
            thing = theirs(target)
            args, kwargs = mapped((args, kwargs), theirs)
            value = perform(thing, method, args, kwargs)
            left = take_down(plain((args, kwargs), _generators_or(_counted(ours))))
            value = plain(value, _counted(ours))
        outputs = differentiable(value) if gradients else []
        return Reply(value, left, partial(pull, inputs, outputs) if outputs else None)

    def _named(self, name: str) -> object:
        if name not in self._things:
            raise NameError(f"name {name!r} is not defined")
        return self._things[name]

    def _number_of(self, value: object) -> Object:
        number = self._numbers.setdefault(id(value), len(self._kept))
        if number == len(self._kept):
            self._kept.append(value)
        return Object(number, NAME_OF(type(value))[:100])


def perform(thing: object, method: str, args: tuple, kwargs: dict) -> object:
    """The call itself."""
    if method in PROTOCOLS:
        return PROTOCOLS[method](thing, *args, **kwargs)
    answer = getattr(thing, method)(*args, **kwargs)
    return list(answer) if method in LISTED and isinstance(answer, Iterator) else answer


def lent(tensor: Tensor, inputs: list[Tensor]) -> Tensor:
    """The tensor to hand on; one that needs gradients can be changed in place, and its x.grad can be read."""
    if not tensor.requires_grad:
        return tensor
    inputs.append(tensor)
    copy = tensor.clone()
    copy.retain_grad()
    return copy


def seed_everything(seed: int) -> None:
    """Let all global random numbers start from this seed."""
    torch.default_generator.manual_seed(seed)  # torch.manual_seed queues it for absent devices too
    np.random.seed(seed % (1 << 32))
    random.seed(seed)


@contextlib.contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Outside, all global random numbers go on as if none had been drawn inside."""
    before = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        torch.set_rng_state(before[0])
        np.random.set_state(before[1])
        random.setstate(before[2])


def _counted(refer: Callable[[object], object]) -> Callable[[object], object]:
    """The same, for one answer: it raises ValueError where that has more objects than may be."""
    count = iter(range(MOST_OBJECTS))

    def counted(value: object) -> object:
        if next(count, None) is None:
            raise ValueError(f"more than {MOST_OBJECTS:,} objects that are not plain data in one answer")
        return refer(value)

    return counted


def _generators_or(refer: Callable[[object], object]) -> Callable[[object], object]:
    """Generators are arguments like tensors, but as answers they are objects."""
    return lambda value: value if isinstance(value, torch.Generator) else refer(value)
