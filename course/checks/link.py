"""The way from a check to the student's objects: what every link promises, and the one within a process."""

import contextlib
import linecache
import operator
import random
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Protocol

import numpy as np
import numpy.random  # numpy loads it when it is first used: in the middle of the first check
import torch

from course.checks.errors import NotWritten, StudentError, is_stub
from course.checks.plain import mapped, plain
from course.checks.trace import Object, Thing

# Methods that Python calls in ways of its own: a module's parameters, say, are found by getattr alone.
PROTOCOLS: dict[str, Callable] = {
    "": lambda thing, *args, **kwargs: thing(*args, **kwargs),
    "__getattribute__": getattr,
    "__getitem__": operator.getitem,
    "__contains__": operator.contains,
    "__len__": len,
    "__iter__": iter,
    "__next__": next,
}
LISTED = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})


@dataclass(frozen=True)
class Reply:
    """A value, and the arguments as the student's code left them; None where they are as they were."""

    value: object
    left: tuple | None = None  # (args, kwargs)


class Link(Protocol):
    """Whoever can put a request to the student's objects."""

    def request(
        self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int = 0
    ) -> object | Reply:
        """Seed torch, numpy and random, then call `method` of the target; "" calls the target itself.

        Arguments are plain data, `Object` (a handle this link gave out) or `Thing` (an exercise by its name);
        the student's code gets copies of the containers among them.
        The answer is plain data in which everything else is an `Object`, or a `Reply` with that and the
        arguments as the call left them. Besides its own methods a module answers `gradients()`, a dictionary.
        Raises StudentError, NotWritten or Unreachable.
        """


class LocalLink:
    """The student's own objects in this process, by the names of their exercises."""

    def __init__(self, things: Mapping[str, object]) -> None:
        self._things = dict(things)
        self._objects: list[object] = []

    def request(
        self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int = 0
    ) -> Reply:
        """Call the student's object here; what it prints, warnings included, goes to standard output."""
        args, kwargs = mapped((args, kwargs), self._student_side)
        thing = self._student_side(Thing(target) if isinstance(target, str) else target)
        try:
            with seeded(seed), contextlib.redirect_stderr(sys.stdout):
                value = plain(perform(thing, method, args, kwargs), self._check_side)
        except (Exception, SystemExit) as problem:
            raise student_problem(problem, called(target, method)) from None
        return Reply(value, plain((args, kwargs), self._argument_left))

    def _student_side(self, entry: object) -> object:
        if isinstance(entry, Thing):
            return self._things[entry.name]
        return self._objects[entry.index] if isinstance(entry, Object) else entry

    def _check_side(self, value: object) -> Object | Thing:
        for name, thing in self._things.items():
            if thing is value:
                return Thing(name)
        for index, known in enumerate(self._objects):
            if known is value:
                return Object(index, type(value).__name__)
        self._objects.append(value)
        return Object(len(self._objects) - 1, type(value).__name__)

    def _argument_left(self, value: object) -> object:
        return value if isinstance(value, torch.Generator) else self._check_side(value)


def called(target: str | Object, method: str) -> str:
    """The call in words: `attention_weights`, `RNNCell.load_state_dict`."""
    name = target if isinstance(target, str) else target.kind
    return f"{name}.{method}" if method else name


def perform(thing: object, method: str, args: tuple, kwargs: dict) -> object:
    """The call itself; a module's parameters come as a list and its gradients as name → gradient."""
    if method in PROTOCOLS:
        return PROTOCOLS[method](thing, *args, **kwargs)
    is_module = isinstance(thing, torch.nn.Module)
    if method == "gradients" and is_module:
        return {name: parameter.grad for name, parameter in thing.named_parameters()}
    answer = getattr(thing, method)(*args, **kwargs)
    return list(answer) if is_module and method in LISTED else answer


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, all global random numbers start from `seed`; outside they go on as if none had been drawn."""
    before = torch.get_rng_state(), np.random.get_state(), random.getstate()
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(before[0])
        np.random.set_state(before[1])
        random.setstate(before[2])


def student_problem(problem: BaseException, name: str) -> StudentError | NotWritten:
    """The exception as a check reports it: with the innermost line that is the student's own."""
    frame, line = _student_place(problem.__traceback__)
    error, message = type(problem).__name__, str(problem)
    text = linecache.getline(frame.f_code.co_filename, line).strip() if frame else ""
    if is_stub(error, message, text):
        return NotWritten(frame.f_code.co_qualname.rpartition("<locals>.")[2] if frame else name)
    bases = tuple(base.__name__ for base in type(problem).__mro__)
    return StudentError(error, message, line, text, bases, name)


def _student_place(trace: TracebackType | None) -> tuple[FrameType | None, int | None]:
    places = [(frame, line) for frame, line in traceback.walk_tb(trace) if not _is_library(frame)]
    return places[-1] if places else (None, None)


def _is_library(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_library_folders())


@cache
def _library_folders() -> tuple[str, ...]:
    folders = (sysconfig.get_path(key) for key in ("stdlib", "purelib", "platlib"))
    return (*folders, str(Path(__file__).parent.parent), "<frozen")
