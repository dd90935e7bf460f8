"""Modules that student code cannot reach by name."""

import importlib
import sys
from types import ModuleType

OURS = ("autograder", "course")


def imported_apart(name: str) -> ModuleType:
    """A module with its own copies of every module of the grader and the course that it uses.

    Code that imports these by name gets other copies, so patching them has no effect here.
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
