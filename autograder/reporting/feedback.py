"""A student's verdict as a self-contained page, which needs no network and runs no script."""

from __future__ import annotations

from markupsafe import Markup

from autograder.grading.told import as_told
from autograder.marks.records import SubmissionRecord
from autograder.reporting.page import render
from autograder.reporting.report import heading_of
from autograder.source.homework import HomeworkSource


def feedback_page(
    record: SubmissionRecord,
    homework: HomeworkSource,
    *,
    hidden: bool = True,
    later: str = "are shown later",
    total: str = "",
) -> Markup:
    """The page for a record. hidden: whether hidden checks are told; later: when, as a predicate.

    total: the mark in the gradebook, in words, which is told with the hidden checks.
    """
    told = as_told(record, homework, hidden=hidden)
    return render(
        "feedback.html.j2",
        told=told,
        total=total if hidden else "",
        heading=heading_of(homework),
        student=record.student,
        later=later,
    )
