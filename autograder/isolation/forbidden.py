"""Names an exercise may not use: their calls raise while they are forbidden and pass through otherwise."""

import functools
import importlib
from collections.abc import Iterable
from typing import Any


class Forbidden(Exception):
    """An exercise's forbidden name was called."""


class Guard:
    """Stands before forbidden functions and classes from the first time they are named."""

    def __init__(self) -> None:
        self.forbidden: frozenset[str] = frozenset()
        self.guarded: set[str] = set()

    def forbid(self, names: Iterable[str]) -> None:
        """Forbid exactly these dotted names from now on.

        Names that do not exist are no concern; a method of any object (".backward"), a builtin ("sum") and a
        whole module are left to the search of the source, since libraries use them all the time.
        """
        self.forbidden = frozenset(names)
        for name in sorted(self.forbidden - self.guarded):
            self.stand_before(name)

    def stand_before(self, name: str) -> None:
        owner, attribute = owner_of(name)
        if owner is None or not hasattr(owner, attribute):
            return
        original = getattr(owner, attribute)
        if not callable(original):
            return
        guarded = self.guarded_class if isinstance(original, type) else self.guarded_function
        setattr(owner, attribute, guarded(name, original))
        self.guarded.add(name)

    def check(self, name: str) -> None:
        if name in self.forbidden:
            raise Forbidden(f"{name} may not be used in this exercise")

    def guarded_function(self, name: str, original: Any) -> Any:
        @functools.wraps(original)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self.check(name)
            return original(*args, **kwargs)

        return guarded

    def guarded_class(self, name: str, original: type) -> type:
        guard = self

        class Guarded(original):
            def __init__(self, *args: Any, **kwargs: Any):
                guard.check(name)
                super().__init__(*args, **kwargs)

        return functools.update_wrapper(Guarded, original, updated=())


def owner_of(name: str) -> tuple[Any, str]:
    """The module or class that holds a dotted name, and the name's last part."""
    path, _, attribute = name.rpartition(".")
    if not path:
        return None, attribute
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            owner = getattr(owner, part, None)
        return owner, attribute
    return None, attribute
