"""One switch for all kernels: an equation of a model is computed by its kernel, or as it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Switch:
    """Whether this process uses the kernels. (torch.compile cannot trace a ContextVar.)"""

    is_on: bool = True


SWITCH = Switch()


@contextmanager
def without_kernels() -> Iterator[None]:
    """Inside the block, every model of this process computes the equation in its own file."""
    before = SWITCH.is_on
    SWITCH.is_on = False
    try:
        yield
    finally:
        SWITCH.is_on = before


def faster_by(
    kernel: Callable[..., R], where: Callable[..., bool] = lambda *arguments, **keywords: True
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate an equation with a kernel that returns the same, up to rounding, for the same arguments.

    The kernel is used for arguments for which `where` is true, unless the switch is off.
    """

    def decorate(equation: Callable[P, R]) -> Callable[P, R]:
        @wraps(equation)
        def chosen(*arguments: P.args, **keywords: P.kwargs) -> R:
            is_used = SWITCH.is_on and where(*arguments, **keywords)
            return (kernel if is_used else equation)(*arguments, **keywords)

        return chosen

    return decorate
