"""The connection from a check to the student's objects: its interface, and a version within one process."""

import contextlib
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from course.checks.autograd import Backward
from course.checks.errors import described, student_problem
from course.checks.plain import replaced, snapshot
from course.checks.request import GRADIENTS, Objects, Reply, random_numbers_kept
from course.checks.trace import Object, Thing

# Exceptions that a student's function raises; others, such as a keyboard interrupt, concern the caller.
THEIRS = (Exception, SystemExit, GeneratorExit)


class Link(Protocol):
    """A connection that can make requests to the student's objects."""

    def request(
        self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int = 0
    ) -> Reply:
        """Call `method` of the target, as `Objects.request` does; "" calls the target itself.

        Arguments are plain data, `Object` (a handle from this link) or `Thing` (an exercise by its name);
        the student's code gets copies of them. Autograd records the call if gradients are enabled here.
        Raises StudentError, NotWritten or Unreachable, and so does the reply's `backward`.
        """


class LocalLink:
    """The student's own objects in this process, by the names of their exercises.

    Global random number generators are seeded for each request and restored after it. `restores` is False
    where the caller restores them after many requests: numpy's takes as long as a short request.
    """

    def __init__(self, things: Mapping[str, object], *, restores: bool = True) -> None:
        self._objects = Objects(things)
        self._kept = random_numbers_kept if restores else contextlib.nullcontext

    def request(
        self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int = 0
    ) -> Reply:
        """Call the student's object in this process; what it prints and warns goes to standard output."""
        name, thing = called(target, method, args), Thing(target) if isinstance(target, str) else target
        with _told(name), self._kept(), contextlib.redirect_stderr(sys.stdout):
            gradients = torch.is_grad_enabled()
            args, kwargs = snapshot((args, kwargs))
            reply = self._objects.request(thing, method, args, kwargs, seed=seed, gradients=gradients)
        return replace(reply, backward=reply.backward and _telling(name, reply.backward))


class AsTensors:
    """A link over which numpy arrays come as tensors, to see whether an answer is right but for that."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def request(
        self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int = 0
    ) -> Reply:
        """The reply of the link inside, with tensors."""
        reply = self._link.request(target, method, args, kwargs, seed=seed)
        return replace(reply, value=replaced(reply.value, np.ndarray, torch.as_tensor))


def called(target: str | Object, method: str, args: tuple = ()) -> str:
    """The call in words: `attention_weights`, `RNNCell.load_state_dict`, `Value.grad` for an attribute."""
    name = target if isinstance(target, str) else target.kind
    if method == "__getattribute__" and args:
        return f"{name}.{args[0]}"
    method = "named_parameters" if method == GRADIENTS else method
    return f"{name}.{method}" if method else name


def _telling(name: str, backward: Backward) -> Backward:
    def telling(gradients: Sequence[Tensor]) -> Sequence[Tensor | None]:
        with _told(name):
            return backward(gradients)

    return telling


@contextlib.contextmanager
def _told(name: str) -> Iterator[None]:
    """Turn an exception into the error that a check reports, with the student's innermost line."""
    try:
        yield
    except THEIRS as problem:
        raise student_problem(name, **described(problem, is_own)) from None


def is_own(file: str) -> bool:
    """Whether a file holds code of the session, and not that of a library."""
    return not file.startswith(_library_folders())


@cache
def _library_folders() -> tuple[str, ...]:
    folders = (sysconfig.get_path(key) for key in ("stdlib", "purelib", "platlib"))
    return (*folders, str(Path(__file__).parent.parent), "<frozen")
