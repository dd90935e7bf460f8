"""Modules that a submission brings along, whose code is in a file and so is not searched."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from course.checks.forbidden import IMPORTING

FIRST_PART = re.compile("[.:]")
FILE_OF_A_MODULE = re.compile(r"(?<![\w/])([\w/]{1,200})\.py\b")


def written(text: str) -> set[str]:
    """The names of the modules and packages whose files a text names: a/b.py → {"a", "b"}."""
    return {name for path in FILE_OF_A_MODULE.findall(text) for name in path.split("/") if name}


def imports(statement: ast.stmt) -> Iterator[tuple[int, str, bool]]:
    """What a statement imports: the line, the first part of the module's name, and whether it may be missing.

    A text is counted as well, as something that may be missing: `get("solved")` may import it.
    """
    todo: list[tuple[ast.AST, bool]] = [(statement, False)]
    while todo:
        node, is_handled = todo.pop()
        if isinstance(node, ast.stmt | ast.expr):
            for module in _imported_by(node):
                yield node.lineno, FIRST_PART.split(module)[0], is_handled
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.endswith(".py"):
            yield node.lineno, FIRST_PART.split(node.value)[0], True
        tried = set(map(id, node.body)) if isinstance(node, ast.Try) and node.handlers else set()
        todo += [(entry, is_handled or id(entry) in tried) for entry in ast.iter_child_nodes(node)]


def _imported_by(node: ast.stmt | ast.expr) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [entry.name for entry in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case (
            ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=[ast.Constant(str(module)), *_])
            | ast.Call(
                func=ast.Name(name) | ast.Attribute(attr=name),
                keywords=[ast.keyword(value=ast.Constant(str(module))), *_],
            )
        ) if name in IMPORTING:
            return [module]
    return []


@lru_cache(maxsize=1_000)
def is_installed(module: str) -> bool:
    """Whether a submission can import it without bringing it along."""
    if not module or module in sys.stdlib_module_names or module in sys.modules or module in _extensions():
        return True
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError, OSError):
        return False


@cache
def _extensions() -> frozenset[str]:
    """The extensions that come with IPython, which `%load_ext autoreload` finds by their last names."""
    ipython = find_spec("IPython")
    folders = (ipython and ipython.submodule_search_locations) or ()
    return frozenset(path.stem for folder in folders for path in Path(folder, "extensions").glob("*.py"))
