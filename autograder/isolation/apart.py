"""Modules that cannot be reached by their names."""

import importlib
import sys
from types import ModuleType

OURS = ("autograder", "course")


def imported_apart(name: str) -> ModuleType:
    """A module with copies of its own of all that it uses of the grader and the course.

    Whoever imports these by their names gets others, and patches them in vain.
    """
    known = _ours()
    _forget(known)
    try:
        return importlib.import_module(name)
    finally:
        _forget(_ours())
        sys.modules.update(known)


def _ours() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.split(".")[0] in OURS}


def _forget(modules: dict[str, ModuleType]) -> None:
    for name in modules:
        del sys.modules[name]
