"""What each exercise's mark rests on, as a digest: where it is the same, nothing need be examined again.

Points are not in it: they are counted afresh from what passed, which runs no code.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from autograder.homework import Exercise, HomeworkSource, catalogue_files
from autograder.records import ExerciseRecord, SubmissionRecord


def exercise_versions(homework: HomeworkSource, policy: str = "") -> dict[str, str]:
    """Exercise → digest of the provided cells, its checks, what it forbids, its reference and its mistakes.

    A check that calls on another exercise's function rests on that one's reference too.
    """
    provided = [cell.source for cell in homework.cells if "provided" in cell.labels]
    mistakes = mistake_texts(homework)
    return {
        exercise.name: digest(
            policy,
            *provided,
            *exercise.forbids,
            *(f"{check.name} {check.hidden}\n{check.source}" for check in exercise.checks),
            *(other.solution for other in _called_on(exercise, homework)),
            *mistakes[exercise.name],
        )
        for exercise in homework.exercises
    }


def _called_on(exercise: Exercise, homework: HomeworkSource) -> Iterator[Exercise]:
    """The exercise itself, and those whose names its checks use."""
    words = {word for check in exercise.checks for word in re.findall(r"\w+", check.source)}
    return (other for other in homework.exercises if other is exercise or other.name in words)


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


def digest(*texts: str) -> str:
    """SHA-256 of several texts, each with its length, so that none runs into the next."""
    whole = hashlib.sha256()
    for text in texts:
        data = text.encode()
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()


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
