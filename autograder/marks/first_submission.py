"""A student's first submission in the gradebook: all rows, with their marks, are inserted at once.

nbgrader creates an object for every cell, writes it without a mark and changes it afterwards, which took
longer than all other work on a submission. The rows are the same: a test compares them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from sqlalchemy import insert
from sqlalchemy.orm import Session

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class ReleasedNotebook:
    """A notebook of an assignment: its key, its name, and its cells' names by key."""

    key: str
    name: str
    graded: Mapping[str, str]
    answered: Mapping[str, str]

    @property
    def cells(self) -> dict[str, str]:
        """The names of all its cells that get a mark or a comment."""
        return {**self.graded, **self.answered}


@dataclass(frozen=True)
class ReleasedAssignment:
    """An assignment as it is in the gradebook."""

    key: str
    notebooks: tuple[ReleasedNotebook, ...]


def released_assignment(gradebook: Gradebook, assignment: str) -> ReleasedAssignment:
    """The assignment of this name; raises nbgrader's MissingEntry."""
    found = gradebook.find_assignment(assignment)
    notebooks = (
        ReleasedNotebook(
            notebook.id,
            notebook.name,
            graded={cell.id: cell.name for cell in (*notebook.grade_cells, *notebook.task_cells)},
            answered={cell.id: cell.name for cell in (*notebook.solution_cells, *notebook.task_cells)},
        )
        for notebook in found.notebooks
    )
    return ReleasedAssignment(found.id, tuple(notebooks))


def add_student(gradebook: Gradebook, student: str) -> None:
    """Enter a student whom the gradebook does not know yet."""
    if gradebook.db.get(Student, student) is None:
        gradebook.db.execute(insert(Student), [{"id": student}])


def add_submission(
    gradebook: Gradebook,
    assignment: ReleasedAssignment,
    student: str,
    timestamp: datetime | None,
    grades: Mapping[str, Columns],
    comments: Mapping[str, Columns],
) -> None:
    """Enter a student's submission of an assignment, where there is none yet.

    grades, comments: a cell's key → the columns that differ from nbgrader's defaults.
    """
    session = gradebook.db
    submission = {
        "id": new_uuid(),
        "assignment_id": assignment.key,
        "student_id": student,
        "timestamp": timestamp,
    }
    session.execute(insert(SubmittedAssignment), [submission])
    for notebook in assignment.notebooks:
        handed_in = {"id": new_uuid(), "assignment_id": submission["id"], "notebook_id": notebook.key}
        session.execute(insert(SubmittedNotebook), [handed_in])
        _insert_cells(session, Grade, handed_in["id"], notebook.graded, grades)
        _insert_cells(session, Comment, handed_in["id"], notebook.answered, comments)


def _insert_cells(
    session: Session, table: type, notebook: str, cells: Iterable[str], columns: Mapping[str, Columns]
) -> None:
    """Insert rows with the same columns together."""
    groups: dict[tuple[str, ...], list[dict]] = defaultdict(list)
    for cell in cells:
        row = {"notebook_id": notebook, "cell_id": cell, **columns.get(cell, {})}
        groups[tuple(row)].append(row)
    for rows in groups.values():
        session.execute(insert(table), rows)
