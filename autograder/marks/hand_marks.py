"""What people gave by hand in the gradebook: the marks of answers in words, and comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import BaseCell, Comment, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.orm import Query

from autograder.marks.database import in_a_sentence, opened
from autograder.marks.settings import course_config


@dataclass(frozen=True)
class HandMarks:
    """One student's. points: answer that only a person can mark → its mark, left out while there is none.

    comments: exercise or written question → what a person wrote about the answer.
    """

    points: dict[str, float] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)


NOTHING_GIVEN = HandMarks()


def hand_marks(root: Path, homework: str, gradebook: str | None = None) -> Mapping[str, HandMarks]:
    """What people gave, by student; gradebook: the URL of its database, None takes the configured one."""
    course = CourseDirectory(config=course_config(root.resolve(), gradebook))
    found: dict[str, HandMarks] = defaultdict(HandMarks)
    with in_a_sentence(), opened(course) as book:
        in_words = _rows(book, homework, Grade, Grade.score).filter(Grade.auto_score.is_(None))
        for student, cell, points in in_words.filter(~Grade.needs_manual_grade):
            found[student].points[cell] = points
        for student, cell, comment in _rows(book, homework, Comment, Comment.manual_comment):
            if comment and comment.strip():
                found[student].comments[cell] = comment.strip()
    return found


def _rows(book: Gradebook, homework: str, kind: type[Grade | Comment], what: object) -> Query:
    """Student, name of the cell, and this column, of every submission of a homework."""
    assignment = book.find_assignment(homework).id
    return (
        book.db.query(SubmittedAssignment.student_id, BaseCell.name, what)
        .select_from(kind)
        .join(BaseCell, BaseCell.id == kind.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .filter(SubmittedAssignment.assignment_id == assignment)
    )
