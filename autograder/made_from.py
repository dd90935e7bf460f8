"""What an exercise's fingerprints are made from, as a digest: where it is the same, they are kept."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import autograder
import course
from autograder.homework import HomeworkSource
from autograder.software import digest
from autograder.versions import called_on, mistake_texts

OURS = ("examine.py", "fingerprints.py")  # of the grader's own files
PACKAGE, GRADER = Path(course.__file__).parent, Path(autograder.__file__).parent


def made_from(homework: HomeworkSource) -> dict[str, str]:
    """Exercise → digest of what bears on the answers to its visible checks.

    That is the provided cells, these checks, the mistakes, the references that a check can reach, the
    machinery of checks, and every module of the course that one of these imports. Not the versions of Python
    and torch: what is written down holds for all that the course supports.
    """
    provided = [cell.source for cell in homework.cells if "provided" in cell.labels]
    mistakes = mistake_texts(homework)
    machinery = [*sorted((PACKAGE / "checks").glob("*.py")), *(GRADER / name for name in OURS)]
    called = called_on(homework)
    # within one homework nothing is read twice; for the next one, what has changed is read again
    read, modules_in = cache(_read), cache(_modules_in)
    digests = {}
    for exercise in homework.exercises:
        texts = [
            *provided,
            *(f"# {check.name}\n{check.source}" for check in exercise.checks if not check.hidden),
            *(homework.exercise(name).solution for name in called[exercise.name]),
            *mistakes[exercise.name],
        ]
        imported = (name for text in texts for name in modules_in(text))
        files = sorted({*machinery, *_closed(imported, read)})
        digests[exercise.name] = digest(
            exercise.trained, *exercise.exempt, *texts, *(read(path).digest for path in files)
        )
    return digests


class _File(NamedTuple):
    digest: str
    imports: frozenset[str]


def _read(path: Path) -> _File:
    text = path.read_text(encoding="utf-8")
    return _File(digest(text), _modules_in(text))


def _closed(modules: Iterable[str], read: Callable[[Path], _File]) -> set[Path]:
    """The files of the course's package that are executed when these modules are imported."""
    found: set[Path] = set()
    seen: set[str] = set()
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            for path in _files(module):
                found.add(path)
                waiting += read(path).imports
    return found


def _modules_in(text: str) -> frozenset[str]:
    """`from course.models import gpt` → course.models, course.models.gpt: some of these may be no modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(name for name in found if name.partition(".")[0] == PACKAGE.name)


def _files(module: str) -> tuple[Path, ...]:
    """The file of a module of the course and those of the packages it lies in."""
    _, *rest = module.split(".")
    places = [PACKAGE.joinpath(*rest[:depth]) for depth in range(len(rest) + 1)]
    there = (path for place in places for path in (place / "__init__.py", place.with_suffix(".py")))
    return tuple(path for path in there if path.is_file())
