"""Comments: nbgrader's on each answer, with the mistake it looks like, and one on the whole submission."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.languages.catalogues import language_of
from autograder.marks.hand_marks import NOTHING_GIVEN, HandMarks
from autograder.marks.records import SubmissionRecord
from autograder.source.homework import HomeworkSource, Written, title
from course.language import Language, say

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


def in_brief(record: SubmissionRecord, homework: HomeworkSource, given: HandMarks = NOTHING_GIVEN) -> str:
    """A paragraph of Markdown for each answer that lost points or has a comment: exercises, then questions.

    It has the mistakes, or what a check found (of a hidden check only the claim); for an answer in words its
    mark; and a person's comment.
    """
    language = language_of(homework.folder.parent.parent, record.language, homework.name)
    found = _findings(record, homework, language) | _marks_in_words(homework, given, language)
    paragraphs = [record.said.get(record.problem, record.problem)] if record.problem else []
    for asked in homework.asked:
        statement = asked.question if isinstance(asked, Written) else asked.statement
        lines = filter(None, [found.get(asked.name), given.comments.get(asked.name)])
        if text := "\n\n".join(lines):
            paragraphs.append(f"**{title(language.text(statement))}**\n{text}")
    return "\n\n".join(paragraphs)


def _findings(record: SubmissionRecord, homework: HomeworkSource, language: Language) -> dict[str, str]:
    """Exercise that lost points → its mistakes, or what a check found."""
    named, known = mistakes_of(record, homework), {exercise.name: exercise for exercise in homework.exercises}
    findings = {}
    for found in record.exercises:
        failed = next((check for check in found.checks if check.result == "failed"), None)
        if failed is None or found.name not in known:
            continue
        claim = next((check.claim for check in known[found.name].checks if check.name == failed.name), "")
        finding = f"✗ {language(claim)}" if failed.hidden else failed.in_words.strip().rpartition("\n")[2]
        findings[found.name] = named.get(found.name) or finding
    return findings


def _marks_in_words(homework: HomeworkSource, given: HandMarks, language: Language) -> dict[str, str]:
    """Question in words that lost points → `2 of 4`."""
    return {
        one.name: language(say("{held} of {total}", held=f"{points:g}", total=f"{one.points:g}"))
        for one in homework.written
        if (points := given.points.get(one.name, one.points)) < one.points
    }
