"""A student's verdict as a self-contained page, which needs no network and runs no script."""

from __future__ import annotations

from markupsafe import Markup

from autograder.grading.told import as_told
from autograder.marks.records import SubmissionRecord
from autograder.reporting.page import render
from autograder.reporting.report import heading_of
from autograder.source.homework import HomeworkSource


def feedback_page(
    record: SubmissionRecord, homework: HomeworkSource, *, hidden: bool = True, later: str = "are shown later"
) -> Markup:
    """The page for a record. hidden: whether hidden checks are shown; later: if not, when, as a predicate."""
    told = as_told(record, homework, hidden=hidden)
    heading = heading_of(homework)
    return render("feedback.html.j2", told=told, heading=heading, student=record.student, later=later)
