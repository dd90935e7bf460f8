"""The marks of a class in the terminal: a line for each student, and below it what went wrong."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from autograder.catalogue import Misconception
from autograder.marks.records import HomeworkRecord, SubmissionRecord, is_unwritten
from autograder.markup import one_line
from autograder.source.homework import HomeworkSource


def table(record: HomeworkRecord, homework: HomeworkSource, width: int = 100) -> str:
    """Every student's mark, and below it what went wrong."""
    known = {entry.name: entry for entry in homework.misconceptions}
    names = [one_line(submission.student) for submission in record.submissions]
    longest = max(map(len, names), default=0)
    lines = []
    for name, submission in zip(names, record.submissions, strict=True):
        lines.append(f"{name:<{longest}}  {mark(submission)}")
        for note in _notes(submission, known):
            lines += textwrap.wrap(
                one_line(note),
                width,
                initial_indent=" " * (longest + 2) + "· ",
                subsequent_indent=" " * (longest + 4),
            )
    return "\n".join(lines)


def mark(submission: SubmissionRecord) -> str:
    """`4 of 5`, or a note that there is no mark."""
    if submission.status != "graded":
        return "could not be run"
    return f"{submission.points:g} of {submission.max_points:g}"


def _notes(submission: SubmissionRecord, known: dict[str, Misconception]) -> Iterator[str]:
    """The problem, flags that no line below repeats, notes, a line for each exercise that lost points."""
    exercises = submission.exercises if submission.status == "graded" else ()
    unwritten = [exercise.name for exercise in exercises if is_unwritten(exercise)]
    lost = []
    for exercise in exercises:
        failed = [check for check in exercise.checks if check.result == "failed"]
        named = " ".join(known[name].diagnosis for name in exercise.diagnosis)
        if failed and exercise.name not in unwritten:
            lost.append(f"{exercise.name}: {named or failed[0].message.splitlines()[-1]}")
    yield from [submission.problem] if submission.problem else []
    yield from (flag for flag in submission.flags if not any(flag in line for line in lost))
    yield from submission.notes
    if unwritten:
        yield f"not written yet: {', '.join(unwritten)}"
    yield from lost
