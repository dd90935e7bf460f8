"""Comments: nbgrader's on each answer, with the mistake it looks like, and one on the whole submission."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.languages.catalogues import language_of
from autograder.marks.records import SubmissionRecord
from autograder.source.homework import HomeworkSource, title

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


def in_brief(record: SubmissionRecord, homework: HomeworkSource) -> str:
    """A paragraph of Markdown for each exercise that lost points: its mistakes, or what a check found.

    Of a hidden check only the claim is told.
    """
    named, known = mistakes_of(record, homework), {exercise.name: exercise for exercise in homework.exercises}
    language = language_of(homework.folder.parent.parent, record.language, homework.name)
    paragraphs = [record.said.get(record.problem, record.problem)] if record.problem else []
    for found in record.exercises:
        failed = next((check for check in found.checks if check.result == "failed"), None)
        if failed is None or found.name not in known:
            continue
        exercise = known[found.name]
        claim = next((check.claim for check in exercise.checks if check.name == failed.name), "")
        finding = f"✗ {language(claim)}" if failed.hidden else failed.in_words.strip().rpartition("\n")[2]
        heading = title(language.text(exercise.statement))
        paragraphs.append(f"**{heading}**\n{named.get(found.name) or finding}")
    return "\n\n".join(paragraphs)
