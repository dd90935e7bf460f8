"""nbgrader's comment on each answer: the mistake it looks like, and the question to think about."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.languages.catalogues import language_of
from autograder.marks.records import SubmissionRecord
from autograder.source.homework import HomeworkSource

UNANSWERED = "No response."  # nbgrader's own comment


def comments(record: SubmissionRecord, unanswered: Iterable[str], homework: HomeworkSource) -> dict[str, str]:
    """The comments of one submission, by the answer's name."""
    return dict.fromkeys(unanswered, UNANSWERED) | mistakes_of(record, homework)


def mistakes_of(record: SubmissionRecord, homework: HomeworkSource) -> dict[str, str]:
    """Exercise → diagnosis and question of every mistake that its answer looks like."""
    known = {entry.name: entry for entry in homework.misconceptions}
    language = language_of(homework.folder.parent.parent, record.language, homework.name)
    return {
        exercise.name: "\n\n".join(
            f"{language(known[name].diagnosis)} {language(known[name].question)}"
            for name in exercise.told
            if name in known
        )
        for exercise in record.exercises
        if exercise.told
    }
