"""The part of the class report about each student: claims, messages, and the mistakes they look like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.catalogue import Misconception
from autograder.grading.told import without_repeats
from autograder.marks.records import CheckRecord, ExerciseRecord, SubmissionRecord, is_unwritten
from autograder.source.homework import Exercise, HomeworkSource


@dataclass(frozen=True)
class ShownCheck:
    """A check with its claim; `message` is empty if it passed, or if it would repeat the previous one."""

    record: CheckRecord
    claim: str
    message: str


@dataclass(frozen=True)
class ShownAnswer:
    """One exercise of a student's; `lost`: it was written, and lost points."""

    record: ExerciseRecord
    title: str
    unwritten: bool
    mistakes: tuple[Misconception, ...]
    checks: tuple[ShownCheck, ...]

    @property
    def lost(self) -> bool:
        return self.record.points < self.record.max_points and not self.unwritten


@dataclass(frozen=True)
class ShownStudent:
    """A section that unfolds; `summary` is shown while it is folded."""

    record: SubmissionRecord
    summary: tuple[str, ...]
    answers: tuple[ShownAnswer, ...]


def shown(record: SubmissionRecord, homework: HomeworkSource) -> ShownStudent:
    """A submission as the report shows it; exercises that the homework no longer has are left out."""
    current = {exercise.name: exercise for exercise in homework.exercises}
    graded = record.exercises if record.status == "graded" else ()
    answers = (_answer(found, current[found.name], homework) for found in graded if found.name in current)
    return ShownStudent(record, tuple(_summary(record)), tuple(answers))


def _summary(record: SubmissionRecord) -> Iterator[str]:
    for exercise in record.exercises:
        yield from (name.replace("_", " ") for name in exercise.diagnosis)
    if record.flags:
        yield "1 flag" if len(record.flags) == 1 else f"{len(record.flags)} flags"


def _answer(record: ExerciseRecord, exercise: Exercise, homework: HomeworkSource) -> ShownAnswer:
    known = {entry.name: entry for entry in homework.misconceptions}
    mistakes = (known[name] for name in record.diagnosis if name in known)
    checks = _checks(record, {check.name: check.claim for check in exercise.checks})
    return ShownAnswer(record, exercise.title, is_unwritten(record), tuple(mistakes), tuple(checks))


def _checks(record: ExerciseRecord, claims: dict[str, str]) -> Iterator[ShownCheck]:
    checks = [check for check in record.checks if check.name in claims]
    messages = without_repeats("" if check.result == "passed" else check.message for check in checks)
    for check, message in zip(checks, messages, strict=True):
        yield ShownCheck(check, claims[check.name], message)
