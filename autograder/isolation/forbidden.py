"""Names an exercise may not use: their calls raise while they are forbidden and pass through otherwise.

This catches what a search of the text misses. It is a reminder, not a barrier: it can be bypassed on purpose.
"""

import functools
import importlib
import sys
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import torch

PROVIDED = "provided cell"  # how the names of the homework's own cells begin


class Forbidden(Exception):
    """An exercise's forbidden name was called."""


class Guard:
    """Wraps forbidden functions and classes, beginning when their names are first given."""

    def __init__(self) -> None:
        self.forbidden: frozenset[str] = frozenset()
        self.guarded: set[str] = set()

    def forbid(self, names: Iterable[str]) -> None:
        """Forbid exactly these dotted names from now on.

        A method (".backward") is guarded on tensors, and a module by its functions. Libraries use these all
        the time, so only a call from a student's cell raises. Names that do not exist are ignored; builtins
        ("sum") and torch's private names are left to the search of the source.
        """
        self.forbidden = frozenset(names)
        for name in sorted(self.forbidden - self.guarded):
            self.stand_before(name)

    def stand_before(self, name: str) -> None:
        """Replace the object of this name by a guarded one."""
        self.guarded.add(name)
        owner, attribute = (torch.Tensor, name[1:]) if name.startswith(".") else owner_of(name)
        original = getattr(owner, attribute, None) if owner is not None else None
        if type(original) is ModuleType and not attribute.startswith("_"):
            for entry, thing in list(vars(original).items()):
                if not entry.startswith("_") and type(thing) in (FunctionType, BuiltinFunctionType):
                    setattr(original, entry, self.guarded_function(name, thing, called_from_a_cell))
        elif name.startswith("."):
            if type(original) in (FunctionType, MethodDescriptorType):
                setattr(owner, attribute, self.guarded_function(name, original, called_from_a_cell))
        elif isinstance(original, type):
            setattr(owner, attribute, self.guarded_class(name, original))
        elif callable(original):
            setattr(owner, attribute, self.guarded_function(name, original, always))

    def check(self, name: str) -> None:
        if name in self.forbidden:
            raise Forbidden(f"{name} may not be used in this exercise")

    def guarded_function(self, name: str, original: Any, counts: Callable[[], bool]) -> Any:
        """The guarded function; `counts` says whether the current call is one that may be forbidden."""

        @functools.wraps(original)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if counts():
                self.check(name)
            return original(*args, **kwargs)

        del guarded.__wrapped__
        return guarded

    def guarded_class(self, name: str, original: type) -> type:
        guard = self

        class Guarded(original):
            def __init__(self, *args: Any, **kwargs: Any):
                guard.check(name)
                super().__init__(*args, **kwargs)

        functools.update_wrapper(Guarded, original, updated=())
        del Guarded.__wrapped__
        return Guarded


def always() -> bool:
    return True


def called_from_a_cell() -> bool:
    """Whether the student's code called a guarded function, and not a library or a provided cell."""
    file = sys._getframe(2).f_code.co_filename
    return file.startswith("<") and not file.startswith(("<frozen", f"<{PROVIDED}"))


def owner_of(name: str) -> tuple[Any, str]:
    """The module or class that holds a dotted name, and the name's last part."""
    path, _, attribute = name.rpartition(".")
    if not path:
        return None, attribute
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            owner: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            owner = getattr(owner, part, None)
        return owner, attribute
    return None, attribute
