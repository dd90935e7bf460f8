"""Marks for a term: weighted homeworks, the lowest ones dropped, missing ones marked."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles

from nbgrader.coursedir import CourseDirectory

from autograder.marks.database import in_a_sentence, opened
from autograder.marks.decisions import Decisions
from autograder.marks.exports.marks import EXCUSED, Mark, marks_of, number
from autograder.marks.exports.sheets import write_sheet
from autograder.marks.settings import course_config


class TermError(ValueError):
    """A term that cannot be computed as asked; the message says what to give instead."""


@dataclass(frozen=True)
class Student:
    """One student's percent of each homework (None: nothing handed in) and of the term."""

    name: str
    percents: Mapping[str, float | None]
    excused: frozenset[str]
    dropped: frozenset[str]
    waiting: frozenset[str]  # homeworks with answers still to be marked by hand
    ahead: frozenset[str]  # not handed in, and not due yet
    total: float | None  # percent; None if nothing counts

    def cell(self, homework: str) -> str:
        """What a table shows: a percentage, EX, or nothing before it is due; in brackets what was dropped."""
        if homework in self.excused:
            return EXCUSED
        if homework in self.ahead:
            return ""
        shown = number(self.percents[homework] or 0.0) + ("*" if homework in self.waiting else "")
        return f"({shown})" if homework in self.dropped else shown

    @property
    def missing(self) -> list[str]:
        """The homeworks that are due and were not handed in."""
        return [
            name
            for name, percent in self.percents.items()
            if percent is None and name not in self.excused | self.ahead
        ]


@dataclass(frozen=True)
class Term:
    """Everybody's marks by name, in these homeworks; those that nobody has handed in yet are left out."""

    students: Sequence[Student]
    homeworks: Sequence[str]
    left_out: Sequence[str] = ()


def term(
    root: Path,
    homeworks: Sequence[str] = (),
    *,
    weights: Mapping[str, float] | None = None,
    drop: int = 0,
    gradebook: str | None = None,
) -> Term:
    """The marks of everybody in the gradebook; raises TermError.

    homeworks: by name, or all that anybody has handed in. Each weighs 1 unless `weights` says otherwise.
    drop: how many of the lowest are dropped; one mark always remains. A homework not handed in counts as 0
    once it is due for the student, or has no due date; an excused one does not count.
    """
    names = list(homeworks) or _known(root, gradebook)
    weights = weights or {}
    if unknown := sorted(weights.keys() - set(names)):
        raise TermError(
            f"There is no homework called {', '.join(unknown)} here; there are: {', '.join(names)}."
        )
    if drop < 0 or any(weight < 0 for weight in weights.values()):
        raise TermError("Neither a weight nor the number of dropped marks can be negative.")
    marks = {name: {mark.student: mark for mark in marks_of(root, name, gradebook)} for name in names}
    ahead = {name: _not_due(root, name, marks[name].values()) for name in names}
    students = sorted({student for by_student in marks.values() for student in by_student})
    left_out = [name for name in names if not homeworks and not _is_handed_in(marks[name])]
    counting = [name for name in names if name not in left_out]
    found = [_student(student, counting, marks, ahead, weights, drop) for student in students]
    return Term(found, counting, left_out)


def read_weights(words: Sequence[str]) -> dict[str, float]:
    """["hw1=2"] → {"hw1": 2.0}; raises TermError."""
    found = {}
    for word in words:
        name, _, weight = word.partition("=")
        try:
            found[name] = float(weight)
        except ValueError:
            raise TermError(f"{word!r} is not a weight; write it like hw1_language_models=2.") from None
    return found


def _known(root: Path, gradebook: str | None) -> list[str]:
    course = CourseDirectory(config=course_config(root.resolve(), gradebook))
    with in_a_sentence(), opened(course) as book:
        return sorted(assignment.name for assignment in book.assignments)


def _is_handed_in(marks: Mapping[str, Mark]) -> bool:
    return any(mark.points is not None for mark in marks.values())


def _not_due(root: Path, homework: str, marks: Iterable[Mark]) -> set[str]:
    """The students who have not handed in, and still may."""
    decisions, now = Decisions(root), datetime.now(UTC)
    longer, grace = decisions.extensions(homework), decisions.grace(homework)
    return {
        mark.student
        for mark in marks
        if mark.points is None
        and mark.due
        and _utc(mark.due) + longer.get(mark.student, timedelta()) + grace > now
    }


def _utc(time: str) -> datetime:
    return datetime.fromisoformat(time).replace(tzinfo=UTC)


def _student(
    student: str,
    names: Sequence[str],
    marks: Mapping[str, Mapping[str, Mark]],
    not_due: Mapping[str, Container[str]],
    weights: Mapping[str, float],
    drop: int,
) -> Student:
    own = {name: marks[name].get(student) for name in names}
    excused = frozenset(name for name, mark in own.items() if mark is not None and mark.excused)
    percents = {name: _percent(mark) for name, mark in own.items()}
    ahead = frozenset(name for name in names if student in not_due[name]) - excused
    counting = sorted(set(names) - excused - ahead, key=lambda name: (percents[name] or 0.0, name))
    drop = min(drop, max(len(counting) - 1, 0))
    dropped, counting = counting[:drop], counting[drop:]
    weight = sum(weights.get(name, 1.0) for name in counting)
    total = sum(weights.get(name, 1.0) * (percents[name] or 0.0) for name in counting)
    waiting = frozenset(name for name, mark in own.items() if mark is not None and mark.waits_for_a_person)
    return Student(
        student, percents, excused, frozenset(dropped), waiting, ahead, total / weight if weight else None
    )


def _percent(mark: Mark | None) -> float | None:
    if mark is None or mark.points is None:
        return None
    return 100 * mark.score / mark.max_points if mark.max_points else 0.0


def as_csv(students: Sequence[Student]) -> str:
    """A table with a line for each student; * means that some answers are not marked yet."""
    names = list(students[0].percents) if students else []
    header = ["student", *names, "percent", "missing"]
    return write_sheet(header, (dict(zip(header, _row(student), strict=True)) for student in students))


def _row(student: Student) -> Iterator[str]:
    yield student.name
    yield from map(student.cell, student.percents)
    yield "" if student.total is None else number(student.total)
    yield " ".join(student.missing)


def statistics_as_csv(students: Sequence[Student]) -> str:
    """A table with a line for each homework: how many handed in, and the spread of their percentages."""
    header = [
        "homework",
        "handed in",
        "missing",
        "excused",
        "lowest",
        "quartile",
        "median",
        "upper quartile",
        "highest",
    ]
    names = list(students[0].percents) if students else []
    rows = (dict(zip(header, _statistics(name, students), strict=True)) for name in names)
    return write_sheet(header, rows)


def _statistics(homework: str, students: Sequence[Student]) -> Iterator[str]:
    percents = [one.percents[homework] for one in students if homework not in one.excused]
    held = sorted(percent for percent in percents if percent is not None)
    missing = sum(homework in one.missing for one in students)
    yield from (homework, str(len(held)), str(missing), str(sum(homework in one.excused for one in students)))
    middle = quantiles(held, n=4, method="inclusive") if len(held) > 1 else 3 * held
    yield from map(number, (held[0], *middle, held[-1])) if held else 5 * [""]
