"""A student's mark for one homework, as the gradebook has it now: the one place that computes a total."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import select

from autograder.marks.database import in_a_sentence, opened
from autograder.marks.decisions import Decisions
from autograder.marks.late import penalties_now, policy_of
from autograder.marks.settings import course_config
from course.language import joined, say

EXCUSED = "EX"  # as Canvas writes it


class ExportError(ValueError):
    """Marks that cannot be exported as asked; the message says what to give instead."""


@dataclass(frozen=True)
class Mark:
    """One student's mark for one homework; `points` is None if nothing was handed in."""

    student: str
    first_name: str
    last_name: str
    email: str
    points: float | None  # automatic and manual together, before any penalty
    penalty: float
    max_points: float
    due: str
    timestamp: str
    waits_for_a_person: bool  # a question is still to be marked by hand
    excused: bool = False

    @property
    def has_mark(self) -> bool:
        """Whether there is a mark to export."""
        return self.points is not None or self.excused

    @property
    def score(self) -> float:
        """The points minus the penalty, never below zero."""
        return max(0.0, (self.points or 0.0) - self.penalty)

    @property
    def total(self) -> str:
        """`4.8 of 6`, and what else there is to know of it; nothing if nothing was handed in."""
        if self.excused:
            return say("excused")
        if self.points is None:
            return ""
        points = say("{held} of {total}", held=number(self.score), total=number(self.max_points))
        late = say("{points} taken off for being late", points=number(self.penalty)) if self.penalty else ""
        rest = say("not all marked yet") if self.waits_for_a_person else ""
        return joined(", ", [points, late, rest])


def marks_of(root: Path, homework: str, gradebook: str | None = None) -> list[Mark]:
    """All marks, by student, with the late penalties of now, which are entered where they differ.

    Raises ExportError if the gradebook has no such homework.
    gradebook: the URL of its database; None takes the one of nbgrader_config.py.
    """
    config = course_config(root.resolve(), gradebook)
    course = CourseDirectory(config=config)
    with in_a_sentence(), opened(course) as book:
        try:
            assignment = book.find_assignment(homework)
        except MissingEntry:
            raise ExportError(
                f"The gradebook knows no homework called {homework}; release it first."
            ) from None
        penalties_now(book, root, homework, policy_of(config))
        excused, there = Decisions(root).excused(homework), _handed_in(book, assignment)
        known = [_mark(assignment, one, there.get(one.id), one.id in excused) for one in book.students]
        return [*known, *_never_graded(excused - {mark.student for mark in known}, assignment)]


def _never_graded(students: Iterable[str], assignment: Assignment) -> Iterator[Mark]:
    """Marks of excused students whom the gradebook does not know."""
    due, most = _text(assignment.duedate), assignment.max_score
    for student in sorted(students):
        yield Mark(student, "", "", "", None, 0.0, most, due, "", waits_for_a_person=False, excused=True)


def _handed_in(gradebook: Gradebook, assignment: Assignment) -> Mapping[str, Any]:
    """Student → the sums of a submission.

    waits: whether there is an answer that only a person can mark, and that has none for its present text. A
    check whose mark by hand may be reviewed has a mark.
    """
    one = SubmittedAssignment
    waits = (
        select(Grade.id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .where(SubmittedNotebook.assignment_id == one.id)
        .where(Grade.needs_manual_grade, Grade.auto_score.is_(None))
        .exists()
        .label("waits")
    )
    columns = (one.student_id, one.score, one.late_submission_penalty, one.timestamp, waits)
    rows = gradebook.db.query(*columns).filter_by(assignment_id=assignment.id)
    return {row.student_id: row for row in rows}


def _mark(assignment: Assignment, student: Student, handed_in: Any | None, excused: bool) -> Mark:
    return Mark(
        student=student.id,
        first_name=student.first_name or "",
        last_name=student.last_name or "",
        email=student.email or "",
        points=None if handed_in is None else handed_in.score,
        penalty=0.0 if handed_in is None else handed_in.late_submission_penalty or 0.0,
        max_points=assignment.max_score,
        due=_text(assignment.duedate),
        timestamp="" if handed_in is None else _text(handed_in.timestamp),
        waits_for_a_person=handed_in is not None and bool(handed_in.waits),
        excused=excused,
    )


def _text(time: object) -> str:
    return "" if time is None else str(time)


def number(points: float) -> str:
    """Points without needless zeros: 7, 7.5."""
    return f"{points:.2f}".rstrip("0").rstrip(".")
