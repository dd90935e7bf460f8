"""A homework's catalogue as a package: its files import from one another, and from the homework's notebook.

In `misconceptions/stacks.py`, `from .norms import Norm` imports what another file defines, and
`from ..notebook import Stack` imports what the notebook with the reference's answers defines (in
`misconceptions.py` it is `from .notebook`). The notebook is executed when the first name is taken from it.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.catalogue import catalogue_files
from autograder.source.homework import HomeworkSource, completed

NOTEBOOK = "notebook"
KINDS = ("misconceptions", "alternatives")
STRANGERS = "strangers"


def catalogue_modules(homework: HomeworkSource) -> tuple[list[ModuleType], list[ModuleType]]:
    """The files of misconceptions and those of alternatives, executed afresh, in the order of their names."""
    root = _register(_package_name(homework.folder), homework.folder)
    for name in [name for name in sys.modules if name.startswith(f"{root.__name__}.")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    _register(f"{root.__name__}.{NOTEBOOK}").__dict__["__getattr__"] = _taken_from(homework)
    wrong, right = (list(_modules(homework.folder, root.__name__, kind)) for kind in KINDS)
    return wrong, right


def stranger_modules(folder: Path) -> list[ModuleType]:
    """The files of strangers of a loaded homework, see autograder.proving.strangers."""
    return list(_modules(folder, _package_name(folder), STRANGERS))


def _package_name(folder: Path) -> str:
    """A name made from its path, as two courses may have a homework of the same name, without dots."""
    return str(folder).replace(".", "_")


def _register(name: str, *places: Path) -> ModuleType:
    """A package without a file, whose modules are in these folders."""
    module = sys.modules[name] = ModuleType(name)
    module.__path__ = [str(place) for place in places]
    return module


def _taken_from(homework: HomeworkSource) -> Callable[[str], Any]:
    """The `__getattr__` of a module, for names that it does not have."""

    @cache
    def scope() -> dict[str, Any]:
        return completed(homework)

    def take(name: str) -> Any:
        if name.startswith("__") or name not in scope():
            raise AttributeError(f"the notebook of {homework.name} defines no {name}")
        return scope()[name]

    return take


def _modules(folder: Path, root: str, kind: str) -> Iterator[ModuleType]:
    name = f"{root}.{kind}"
    files = catalogue_files(folder, kind)
    alone = [importlib.import_module(name) for path in files if path.parent == folder]
    package = alone[0] if alone else _register(name)
    package.__path__ = [str(folder / kind)]
    yield from alone
    yield from (importlib.import_module(f"{name}.{path.stem}") for path in files if path.parent != folder)


def relative_imports(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """The imports from another file of the catalogue, or from the notebook."""
    return (line for line in tree.body if isinstance(line, ast.ImportFrom) and line.level)


def imported_file(path: Path, line: ast.ImportFrom) -> Path | None:
    """The file that a relative import in this file reads; None if that is the notebook."""
    assert line.module is not None
    place = path.parents[line.level - 1].joinpath(*line.module.split(".")).with_suffix(".py")
    return None if line.module == NOTEBOOK else place
