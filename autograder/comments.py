"""nbgrader's comment on each answer: the mistake it looks like, and the question to think about."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.plan import Plan
from autograder.submission import Graded

UNANSWERED = "No response."  # as nbgrader says it


def comments(graded: Graded, plan: Plan) -> dict[str, str]:
    """The comments of one submission, by the answer's name."""
    return dict.fromkeys(graded.unanswered, UNANSWERED) | mistakes_in_words(graded, plan)


def mistakes_in_words(graded: Graded, plan: Plan) -> Mapping[str, str]:
    """For each exercise with a known mistake, what it is and what to ask."""
    known = {entry.name: entry for entry in plan.homework.misconceptions}
    return {
        exercise.name: "\n\n".join(
            f"{known[name].diagnosis} {known[name].question}" for name in exercise.diagnosis
        )
        for exercise in graded.record.exercises
        if exercise.diagnosis
    }
