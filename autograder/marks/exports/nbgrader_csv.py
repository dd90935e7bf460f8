"""The columns of `nbgrader export`, for one homework, with everything quoted that needs it."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.marks.exports.marks import Mark
from autograder.marks.exports.sheets import write_sheet

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)


def nbgrader_csv(homework: str, marks: Iterable[Mark]) -> str:
    """One line per student: 0.0 for nothing handed in, as in nbgrader's own export, no points if excused."""
    return write_sheet(COLUMNS, (_row(homework, mark) for mark in marks))


def _row(homework: str, mark: Mark) -> dict[str, str]:
    points = (mark.points or 0.0, mark.penalty, mark.score)
    values = (
        homework,
        mark.due,
        mark.timestamp,
        mark.student,
        mark.last_name,
        mark.first_name,
        mark.email,
        *("" if mark.excused else str(each) for each in points),
        str(mark.max_points),
    )
    return dict(zip(COLUMNS, values, strict=True))
