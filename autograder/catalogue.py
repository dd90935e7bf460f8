"""How a homework declares known mistakes (misconceptions) and other correct solutions (alternatives).

The decorators only mark what they decorate; the code that loads the module collects the marks.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

MARK = "__catalogue__"


class CatalogueError(ValueError):
    """An incomplete entry of the catalogue; the message says which entry, and what it lacks."""


@dataclass(frozen=True)
class Misconception:
    """A known wrong solution: the diagnosis for the instructor, and the question for the student."""

    name: str
    of: str  # the exercise
    equals: frozenset[str]  # misconceptions that no check can distinguish from this one
    seen: str | None  # a link to a place where the mistake was really made
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
    """A known mistake that no wrong function can represent, with the reason."""

    mistake: str  # "8c"
    what: str
    why: str


Entry = TypeVar("Entry", Misconception, Alternative, NotCode)


def misconception(*, of: str, equals: Iterable[str] = (), seen: str | None = None) -> Callable[[Any], Any]:
    """Mark a function or class as a known wrong solution; its docstring is the diagnosis and the question.

    Which checks it fails is measured: see `autograder.source.fails`.
    """

    def mark(thing: Any) -> Any:
        diagnosis, question = _diagnosis_and_question(thing)
        entry = Misconception(thing.__name__, of, frozenset(equals), seen, diagnosis, question, thing)
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
    """Declare a mistake that no wrong solution can represent; the call must be a statement of its own."""
    return NotCode(mistake, what, why)


def catalogue_files(folder: Path, kind: str) -> list[Path]:
    """The files of one kind: KIND.py, or one file per theme in a folder KIND, in the order of their names."""
    single = folder / f"{kind}.py"
    return [*([single] if single.is_file() else []), *sorted((folder / kind).glob("*.py"))]


def collect(module: ModuleType, kind: type[Entry]) -> list[Entry]:
    """The entries of one kind that a module makes, in the order of its lines."""
    marks = _statements(module) if kind is NotCode else _marks(module)
    return [mark for mark in marks if isinstance(mark, kind)]


def _marks(module: ModuleType) -> list[object]:
    """The marks of the objects that a module defines, and does not import; None for one without a mark."""
    own = [thing for thing in vars(module).values() if getattr(thing, "__module__", None) == module.__name__]
    return [vars(thing).get(MARK) for thing in own if hasattr(thing, "__dict__")]


def _statements(module: ModuleType) -> list[object]:
    """`not_code(…)` is a statement that binds no name, so it is found in the source and evaluated."""
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
            f"{thing.__name__} needs a docstring: the diagnosis in one line, "
            "then, after an empty line, the question for the student."
        )
    return diagnosis.strip(), " ".join(question.split())
