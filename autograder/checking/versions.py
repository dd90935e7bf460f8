"""A digest of everything that can change an exercise's mark: if it is the same, nothing is examined again.

Points are not part of it: they are recounted from the checks that passed, which runs no code.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import autograder
import course
from autograder.catalogue import catalogue_files
from autograder.software import contents, digest
from autograder.source.homework import Exercise, HomeworkSource
from autograder.source.packages import imported_file, relative_imports

OURS = ("checking/examine.py", "checking/fingerprints.py")  # among the grader's own files
PACKAGE, GRADER = Path(course.__file__).parent, Path(autograder.__file__).parent


def exercise_versions(homework: HomeworkSource) -> dict[str, str]:
    """Exercise → digest of the provided cells, its checks, its forbidden names, reference and mistakes.

    A check that calls another exercise's function depends on that exercise's reference too. In an ordinary
    notebook every cell may affect every check.
    """
    shared = [cell.source for cell in homework.cells if homework.in_place or "provided" in cell.labels]
    shared += [text for text in contents(homework.folder) if not _is_known_otherwise(text, homework)]
    mistakes = mistake_texts(homework)
    texts = {
        exercise.name: [*(check.source for check in exercise.checks), *mistakes[exercise.name]]
        for exercise in homework.exercises
    }
    called = {} if homework.in_place else called_on(homework, texts)
    return {
        exercise.name: digest(
            *shared,
            *exercise.forbids,
            *exercise.allows,
            *_dtype(exercise),
            *(f"{check.name} {check.hidden}\n{check.source}" for check in exercise.checks),
            *(homework.exercise(name).solution for name in called.get(exercise.name, ())),
            *mistakes[exercise.name],
        )
        for exercise in homework.exercises
    }


def _dtype(exercise: Exercise) -> list[str]:
    return [f"dtype {exercise.dtype}"] if exercise.dtype else []


def _is_known_otherwise(file: str, homework: HomeworkSource) -> bool:
    """Whether a file of the homework's folder is digested per exercise, or cannot affect a verdict."""
    path = Path(file.rpartition(" ")[0])
    first = path.parts[0].partition(".")[0]
    known = (
        "misconceptions",
        "alternatives",
        "strangers",
        "README",
        "earlier_releases",
        "fails",
        homework.name,
    )
    return first in known or homework.folder / path in homework.files


def called_on(homework: HomeworkSource, texts: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Exercise → itself and those whose names its texts use, directly or in provided cells.

    texts: exercise → the code of its checks and mistakes.
    """
    uses: defaultdict[str, set[str]] = defaultdict(set)
    for cell in homework.cells:
        if cell.kind == "code" and "provided" in cell.labels:
            for statement in ast.parse(cell.source).body:
                for name in _defined(statement):
                    uses[name] |= _names(statement)
    for exercise in homework.exercises:
        uses[exercise.name] |= _names(ast.parse(exercise.solution))
    found = {}
    for exercise in homework.exercises:
        reached, waiting = set(), {exercise.name}
        waiting |= {name for text in texts[exercise.name] for name in _names(ast.parse(text))}
        while waiting:
            reached |= waiting
            waiting = {name for known in waiting for name in uses.get(known, ())} - reached
        found[exercise.name] = [other.name for other in homework.exercises if other.name in reached]
    return found


def _names(tree: ast.AST) -> set[str]:
    """Every variable, imported name and parameter; a claim's parameters are the answers that it gets."""
    nodes = list(ast.walk(tree))
    variables = {node.id for node in nodes if isinstance(node, ast.Name)}
    imported = {node.name for node in nodes if isinstance(node, ast.alias)}
    return variables | imported | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _defined(statement: ast.stmt) -> set[str]:
    """The names that a statement of a cell defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}


def mistake_texts(homework: HomeworkSource) -> defaultdict[str, list[str]]:
    """Exercise → the text of its misconceptions, and of the definitions that they use in the same files."""
    exercise_of = {entry.name: entry.of for entry in homework.misconceptions}
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for path in catalogue_files(homework.folder, "misconceptions"):
        shared = [text for file in imported_by(path) for _, text in statements(file)]
        own: defaultdict[str, list[str]] = defaultdict(list)
        for name, piece in statements(path):
            (own[exercise_of[name]] if name in exercise_of else shared).append(piece)
        for exercise, pieces in own.items():
            texts[exercise] += [*shared, *pieces]
    return texts


def imported_by(path: Path) -> list[Path]:
    """The catalogue's files that one of them imports, directly or indirectly."""
    found: list[Path] = []
    waiting = [path]
    while waiting:
        file = waiting.pop()
        lines = relative_imports(ast.parse(file.read_text(encoding="utf-8")))
        imported = (imported_file(file, line) for line in lines)
        fresh = [other for other in imported if other and other not in (path, *found)]
        found += fresh
        waiting += fresh
    return sorted(found)


def statements(path: Path) -> Iterator[tuple[str, str]]:
    """The name (if it defines one) and the text of each statement at the top of a file, decorators too."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for statement in ast.parse(text).body:
        first = min([statement.lineno, *(node.lineno for node in getattr(statement, "decorator_list", []))])
        yield getattr(statement, "name", ""), "\n".join(lines[first - 1 : statement.end_lineno])


def made_from(homework: HomeworkSource) -> dict[str, str]:
    """Exercise → digest of everything that can change the answers to its visible checks.

    That is the provided cells, these checks, the mistakes, the references that a check can reach, the
    machinery of checks, and every module of the course that one of these imports. The versions of Python
    and torch are left out, because fingerprints hold for all versions that the course supports.
    """
    provided = [cell.source for cell in homework.cells if "provided" in cell.labels]
    mistakes = mistake_texts(homework)
    machinery = [*sorted((PACKAGE / "checks").glob("*.py")), *(GRADER / name for name in OURS)]
    visible = {
        exercise.name: [f"# {check.name}\n{check.source}" for check in exercise.checks if not check.hidden]
        for exercise in homework.exercises
    }
    called = called_on(homework, {name: [*checks, *mistakes[name]] for name, checks in visible.items()})
    # within one homework no file is read twice; for the next one, files are read again
    read, modules_in, files_of = cache(_read), cache(_modules_in), cache(_files)
    digests = {}
    for exercise in homework.exercises:
        texts = [
            *provided,
            *visible[exercise.name],
            *(homework.exercise(name).solution for name in called[exercise.name]),
            *mistakes[exercise.name],
        ]
        imported = (name for text in texts for name in modules_in(text))
        files = sorted({*machinery, *_closed(imported, read, files_of)})
        digests[exercise.name] = digest(
            exercise.trained,
            *exercise.exempt,
            *_dtype(exercise),
            *texts,
            *(read(path).digest for path in files),
        )
    return digests


class _File(NamedTuple):
    digest: str
    imports: frozenset[str]


def _read(path: Path) -> _File:
    text = path.read_text(encoding="utf-8")
    return _File(digest(text), _modules_in(text))


def _closed(
    modules: Iterable[str], read: Callable[[Path], _File], files_of: Callable[[str], tuple[Path, ...]]
) -> set[Path]:
    """The files of the course's package that are executed when these modules are imported."""
    found: set[Path] = set()
    seen: set[str] = set()
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            for path in files_of(module):
                found.add(path)
                waiting += read(path).imports
    return found


def _modules_in(text: str) -> frozenset[str]:
    """`from course.models import gpt` → course.models, course.models.gpt; not all need be modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(name for name in found if name.partition(".")[0] == PACKAGE.name)


def _files(module: str) -> tuple[Path, ...]:
    """The file of a module of the course, and those of its packages."""
    _, *rest = module.split(".")
    places = [PACKAGE.joinpath(*rest[:depth]) for depth in range(len(rest) + 1)]
    there = (path for place in places for path in (place / "__init__.py", place.with_suffix(".py")))
    return tuple(path for path in there if path.is_file())
