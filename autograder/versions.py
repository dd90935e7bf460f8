"""What each exercise's mark rests on, as a digest: where it is the same, nothing need be examined again.

Points are not in it: they are counted afresh from what passed, which runs no code.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from autograder.catalogue import catalogue_files
from autograder.homework import HomeworkSource
from autograder.records import ExerciseRecord, SubmissionRecord
from autograder.software import contents, digest


def exercise_versions(homework: HomeworkSource) -> dict[str, str]:
    """Exercise → digest of what is provided, its checks, what it forbids, its reference and its mistakes.

    A check that calls on another exercise's function rests on that one's reference too. In an ordinary
    notebook every cell may bear on every check.
    """
    shared = [cell.source for cell in homework.cells if homework.in_place or "provided" in cell.labels]
    shared += [text for text in contents(homework.folder) if not _is_known_otherwise(text, homework)]
    mistakes = mistake_texts(homework)
    called = {} if homework.in_place else called_on(homework)
    return {
        exercise.name: digest(
            *shared,
            *exercise.forbids,
            *exercise.allows,
            *(f"{check.name} {check.hidden}\n{check.source}" for check in exercise.checks),
            *(homework.exercise(name).solution for name in called.get(exercise.name, ())),
            *mistakes[exercise.name],
        )
        for exercise in homework.exercises
    }


def _is_known_otherwise(file: str, homework: HomeworkSource) -> bool:
    """Whether a file of the homework's folder is counted exercise by exercise, or bears on no verdict."""
    path = Path(file.rpartition(" ")[0])
    first = path.parts[0].partition(".")[0]
    known = ("misconceptions", "alternatives", "README", "earlier_releases", homework.name)
    return first in known or homework.folder / path in homework.files


def called_on(homework: HomeworkSource) -> dict[str, list[str]]:
    """Exercise → itself and those whose names its checks come to use, also by way of what is provided."""
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
        waiting |= {name for check in exercise.checks for name in _names(ast.parse(check.source))}
        while waiting:
            reached |= waiting
            waiting = {name for known in waiting for name in uses.get(known, ())} - reached
        found[exercise.name] = [other.name for other in homework.exercises if other.name in reached]
    return found


def _names(tree: ast.AST) -> set[str]:
    """Every variable and every parameter in it: a claim's parameters say which answers it gets."""
    nodes = list(ast.walk(tree))
    variables = {node.id for node in nodes if isinstance(node, ast.Name)}
    return variables | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _defined(statement: ast.stmt) -> set[str]:
    """The names that a statement of a cell gives a meaning to."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}


def mistake_texts(homework: HomeworkSource) -> defaultdict[str, list[str]]:
    """Exercise → the text of its misconceptions, and of whatever else their files hold for them."""
    exercise_of = {entry.name: entry.of for entry in homework.misconceptions}
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for path in catalogue_files(homework.folder, "misconceptions"):
        shared: list[str] = []
        own: defaultdict[str, list[str]] = defaultdict(list)
        for name, piece in statements(path):
            (own[exercise_of[name]] if name in exercise_of else shared).append(piece)
        for exercise, pieces in own.items():
            texts[exercise] += [*shared, *pieces]
    return texts


def statements(path: Path) -> Iterator[tuple[str, str]]:
    """The name (if it defines one) and the text of each statement at the top of a file, decorators too."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for statement in ast.parse(text).body:
        first = min([statement.lineno, *(node.lineno for node in getattr(statement, "decorator_list", []))])
        yield getattr(statement, "name", ""), "\n".join(lines[first - 1 : statement.end_lineno])


def priced(exercise: ExerciseRecord, homework: HomeworkSource) -> ExerciseRecord:
    """A verdict with the points that its checks are worth now; what passed and failed stays."""
    worth = {check.name: check.points for check in homework.checks}
    passed = [check.name for check in exercise.checks if check.result == "passed"]
    points = sum(worth[name] for name in passed)
    return replace(exercise, points=points, max_points=sum(worth[check.name] for check in exercise.checks))


def counted(record: SubmissionRecord, exercises: Mapping[str, ExerciseRecord]) -> SubmissionRecord:
    """A record of these verdicts, with their sums."""
    return replace(
        record,
        points=sum(exercise.points for exercise in exercises.values()),
        max_points=sum(exercise.max_points for exercise in exercises.values()),
        exercises=tuple(exercises.values()),
    )
