"""nbgrader's comment on each answer: the mistake it looks like, and the question to think about."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.homework import HomeworkSource
from autograder.plan import Plan
from autograder.records import SubmissionRecord
from autograder.submission import Graded

UNANSWERED = "No response."  # as nbgrader says it


def comments(graded: Graded, plan: Plan) -> dict[str, str]:
    """The comments of one submission, by the answer's name."""
    return dict.fromkeys(graded.unanswered, UNANSWERED) | mistakes_in_words(graded, plan)


def mistakes_in_words(graded: Graded, plan: Plan) -> Mapping[str, str]:
    """For each exercise with a known mistake, what it is and what to ask."""
    return mistakes_of(graded.record, plan.homework)


def mistakes_of(record: SubmissionRecord, homework: HomeworkSource) -> Mapping[str, str]:
    """The same from a record: exercise → diagnosis and question of every mistake it looks like."""
    known = {entry.name: entry for entry in homework.misconceptions}
    return {
        exercise.name: "\n\n".join(
            f"{known[name].diagnosis} {known[name].question}" for name in exercise.told if name in known
        )
        for exercise in record.exercises
        if exercise.told
    }
