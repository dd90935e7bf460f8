"""A student's verdict as a self-contained page, which needs no network and runs no script."""

from __future__ import annotations

from markupsafe import Markup

from autograder.grading.told import Verdict, as_told
from autograder.marks.records import SubmissionRecord
from autograder.reporting.page import render, speaking
from autograder.reporting.report import heading_of
from autograder.source.homework import HomeworkSource
from course.language import say

# When hidden checks are shown, as predicates.
LATER, AFTER_DUE = say("are shown later"), say("are shown after the due date")
NEVER = say("are not shown here")


def verdict(told: Verdict, later: str = LATER) -> Markup:
    """What a student is told, as a part of a page."""
    return render("verdict.html.j2", told=told, later=later, say=speaking(told.language))


def feedback_page(
    record: SubmissionRecord,
    homework: HomeworkSource,
    *,
    hidden: bool = True,
    later: str = LATER,
    total: str = "",
) -> Markup:
    """The page for a record. hidden: whether hidden checks are told; later: when, as a predicate.

    total: the mark in the gradebook, in words, which is told with the hidden checks.
    """
    told = as_told(record, homework, hidden=hidden)
    return render(
        "feedback.html.j2",
        told=told,
        total=told.language(total) if hidden else "",
        heading=heading_of(homework, told.language),
        student=record.student,
        language=told.language.name,
        say=speaking(told.language),
        later=later,
    )
