"""How a homework says what goes wrong (misconceptions) and what else is right (alternatives).

The decorators only mark what they decorate; whoever loads the module collects the marks.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

MARK = "__catalogue__"


class CatalogueError(ValueError):
    """An entry of the catalogue that lacks something; the message says which entry and what."""


@dataclass(frozen=True)
class Misconception:
    """A known wrong solution: the checks it fails, what to tell the teacher, what to ask the student."""

    name: str
    of: str  # the exercise
    fails: frozenset[str]  # exactly these checks, visible and hidden
    equals: frozenset[str]  # misconceptions that no check can tell from this one
    seen: str | None  # a link to where the mistake was made in earnest
    diagnosis: str
    question: str
    thing: Any


@dataclass(frozen=True)
class Alternative:
    """A correct solution written differently from the reference."""

    name: str
    of: str
    thing: Any


@dataclass(frozen=True)
class NotCode:
    """A known mistake that no wrong function can stand for, with the reason."""

    mistake: str  # "8c"
    what: str
    why: str


Entry = TypeVar("Entry", Misconception, Alternative, NotCode)


def misconception(
    *, of: str, fails: Iterable[str], equals: Iterable[str] = (), seen: str | None = None
) -> Callable[[Any], Any]:
    """Mark a function or class as a known wrong solution; its docstring is the diagnosis and the question."""

    def mark(thing: Any) -> Any:
        diagnosis, question = _diagnosis_and_question(thing)
        entry = Misconception(
            thing.__name__, of, frozenset(fails), frozenset(equals), seen, diagnosis, question, thing
        )
        setattr(thing, MARK, entry)
        return thing

    return mark


def alternative(*, of: str) -> Callable[[Any], Any]:
    """Mark a function or class as another correct solution."""

    def mark(thing: Any) -> Any:
        setattr(thing, MARK, Alternative(thing.__name__, of, thing))
        return thing

    return mark


def not_code(mistake: str, what: str, *, why: str) -> NotCode:
    """A mistake that no wrong solution can express; stands on a line of its own in the module."""
    return NotCode(mistake, what, why)


def catalogue_files(folder: Path, kind: str) -> list[Path]:
    """The files of one kind: KIND.py, or one file per theme in a folder KIND, in the order of their names."""
    single = folder / f"{kind}.py"
    return [*([single] if single.is_file() else []), *sorted((folder / kind).glob("*.py"))]


def modules(folder: Path, kind: str) -> list[ModuleType]:
    """The files of one kind, executed."""
    return [_module(path) for path in catalogue_files(folder, kind)]


def _module(path: Path) -> ModuleType:
    """The module at a path, known by its path: two courses may have a homework of the same name.

    It is registered because dataclasses look their module up.
    """
    name = str(path.resolve().with_suffix(""))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # the name ends in .py, for which Python has a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def collect(module: ModuleType, kind: type[Entry]) -> list[Entry]:
    """The entries of one kind that a module makes, in the order of its lines."""
    marks = _statements(module) if kind is NotCode else _marks(module)
    return [mark for mark in marks if isinstance(mark, kind)]


def _marks(module: ModuleType) -> list[object]:
    """What the things that a module defines are marked with, None for one that is not."""
    return [vars(thing).get(MARK) for thing in vars(module).values() if hasattr(thing, "__dict__")]


def _statements(module: ModuleType) -> list[object]:
    """`not_code(…)` stands alone on its line and binds no name, so it is found in the text and evaluated."""
    path = getattr(module, "__file__", None)
    text = Path(path).read_text(encoding="utf-8") if path else ""
    calls = [line.value for line in ast.parse(text).body if isinstance(line, ast.Expr)]
    found = [call for call in calls if isinstance(call, ast.Call) and ast.unparse(call.func) == "not_code"]
    return [eval(compile(ast.Expression(call), module.__name__, "eval"), vars(module)) for call in found]


def _diagnosis_and_question(thing: Any) -> tuple[str, str]:
    text = inspect.cleandoc(thing.__doc__ or "")
    diagnosis, _, question = text.partition("\n")
    if not diagnosis.strip() or not question.strip():
        raise CatalogueError(
            f"{thing.__name__} needs a docstring: first the diagnosis in one line, "
            "then, after an empty line, the question put to the student."
        )
    return diagnosis.strip(), " ".join(question.split())
