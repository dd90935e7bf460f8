"""Perform a request on a student's object, in the notebook and in the sandbox alike."""

import contextlib
import operator
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.random  # otherwise numpy imports it at its first use, in the middle of the first check
import torch
from torch import Tensor

from course.checks.autograd import Backward, differentiable, pull
from course.checks.errors import NAME_OF
from course.checks.plain import cannot_change, mapped, plain, snapshot
from course.checks.trace import Object, Thing

MOST_OBJECTS = 10_000  # in one answer
GRADIENTS = "gradients()"  # no attribute can have this name
LISTED = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})  # iterators come as lists


def gradients_of(module: torch.nn.Module) -> dict[str, Tensor | None]:
    """The gradients of a module's parameters, by name."""
    return {name: parameter.grad for name, parameter in module.named_parameters()}


# Requests with special syntax in Python; all others are the names of methods.
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
    """The result of a request."""

    value: object  # plain data; anything else is an `Object`, or a `Thing` that the request named
    left: object = None  # (args, kwargs) after the call; None if they are unchanged
    backward: Backward | None = None  # if something in the value can be differentiated


class Objects:
    """The student's objects: functions and classes by name, and returned objects by number."""

    def __init__(self, things: Mapping[str, object]) -> None:
        self._things = things
        self._kept: list[object] = []
        self._numbers: dict[int, int] = {}  # by identity; kept objects stay alive, so their ids stay unique

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
        """Seed torch, numpy and random, then call `method` of the target with exactly these arguments.

        gradients: whether autograd records the call. take_down: copies the arguments after the call, before
        the value is examined, because that may run the student's code. Raises what the student's code raises,
        NameError for a name that is not defined, and ValueError for an answer that is too large to examine.
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
            left = None
            if not cannot_change(args, kwargs):
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
    """The tensor to pass on; if it requires gradients, it can be changed in place, and its x.grad be read."""
    if not tensor.requires_grad:
        return tensor
    inputs.append(tensor)
    copy = tensor.clone()
    copy.retain_grad()
    return copy


def seed_everything(seed: int) -> None:
    """Seed all global random number generators."""
    torch.default_generator.manual_seed(seed)  # torch.manual_seed also queues work for absent devices
    np.random.seed(seed % (1 << 32))
    random.seed(seed)


@contextlib.contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Restore all global random number generators on exit, as if no number had been drawn inside."""
    before = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        torch.set_rng_state(before[0])
        np.random.set_state(before[1])
        random.setstate(before[2])


def _counted(refer: Callable[[object], object]) -> Callable[[object], object]:
    """The same, for one answer; raises ValueError if it contains too many objects."""
    count = iter(range(MOST_OBJECTS))

    def counted(value: object) -> object:
        if next(count, None) is None:
            raise ValueError(f"more than {MOST_OBJECTS:,} objects that are not plain data in one answer")
        return refer(value)

    return counted


def _generators_or(refer: Callable[[object], object]) -> Callable[[object], object]:
    """`refer`, except for generators: as arguments they stay as they are, as answers they are objects."""
    return lambda value: value if isinstance(value, torch.Generator) else refer(value)
