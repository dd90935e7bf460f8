"""What `from module import *` binds, as far as it can be known without running anything."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import course
from autograder.submissions.bindings import bound
from course.checks.forbidden import Names


@cache
def files_of_the_course() -> Mapping[str, Path]:
    """Module → its file, for all of the course's package."""
    root = Path(course.__file__).parent
    paths = sorted(root.rglob("*.py"))
    names = [".".join(path.relative_to(root.parent).with_suffix("").parts) for path in paths]
    return {name.removesuffix(".__init__"): path for name, path in zip(names, paths, strict=True)}


def starred(module: str) -> Mapping[str, str]:
    """Name → what it is: {"top_k": "course.sampling.filters.top_k"}; nothing for a module not known here."""
    if module in files_of_the_course():
        return _in_file(module)
    loaded = sys.modules.get(module)
    if type(loaded) is not ModuleType:
        return {}
    names = vars(loaded)
    return {
        name: names[name].__name__ if type(names.get(name)) is ModuleType else f"{module}.{name}"
        for name in names.get("__all__", _public(names))
    }


@cache
def _in_file(module: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    listed: list[str] = []
    for statement in ast.parse(files_of_the_course()[module].read_text(encoding="utf-8")).body:
        imported = Names.of(ast.Module([statement], []), {}).aliases
        found |= {name: imported.get(name, f"{module}.{name}") for name in bound(statement)}
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            listed = ast.literal_eval(statement.value)
    return {name: found[name] for name in listed or _public(found)}


def _public(names: Mapping[str, object]) -> list[str]:
    return [name for name in names if not name.startswith("_")]
