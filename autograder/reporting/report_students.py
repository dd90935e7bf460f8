"""The part of the class report about each student: claims, messages, and the mistakes they look like."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.catalogue import Misconception
from autograder.marks.records import (
    CheckRecord,
    ExerciseRecord,
    HomeworkRecord,
    SubmissionRecord,
    is_unwritten,
)
from autograder.reporting.page import anchor, number, rich, text
from autograder.source.homework import Check, HomeworkSource

MARKS = {"passed": ("good", "✓"), "failed": ("bad", "✗"), "could_not_run": ("open", "–")}


def students(record: HomeworkRecord, homework: HomeworkSource) -> str:
    """A section that unfolds for every student."""
    return "<h2>Students</h2>" + "".join(_student(entry, homework) for entry in record.submissions)


def _student(record: SubmissionRecord, homework: HomeworkSource) -> str:
    known = {exercise.name for exercise in homework.exercises}
    graded = record.exercises if record.status == "graded" else ()
    exercises = [exercise for exercise in graded if exercise.name in known]
    parts = [
        f"<summary><b>{text(record.student)}</b>{_points(record)}",
        f"<span class=quiet>{text(', '.join(_summary(record)))}</span></summary>",
        f"<p class=bad>{text(record.problem)}</p>" if record.problem else "",
        *(f"<p class=open>{text(flag)}</p>" for flag in record.flags),
        *(f"<p class=quiet>{text(note)}</p>" for note in record.notes),
        *(_answer(exercise, homework) for exercise in exercises),
    ]
    return f"<details id='{anchor(record.student)}'>{''.join(parts)}</details>"


def _points(record: SubmissionRecord) -> str:
    if record.status != "graded":
        return "<span class='points open'>not run</span>"
    return f"<span class=points>{number(record.points)} of {number(record.max_points)}</span>"


def _summary(record: SubmissionRecord) -> Iterator[str]:
    for exercise in record.exercises:
        yield from (name.replace("_", " ") for name in exercise.diagnosis)
    if record.flags:
        yield "1 flag" if len(record.flags) == 1 else f"{len(record.flags)} flags"


def _answer(exercise: ExerciseRecord, homework: HomeworkSource) -> str:
    """One exercise: unfolded where points were lost on something that was written."""
    source = homework.exercise(exercise.name)
    points = f"{number(exercise.points)} of {number(exercise.max_points)}"
    unwritten = is_unwritten(exercise)
    note = f"{points}, not written yet" if unwritten else points
    heading = f"<span class=title>{rich(source.title)}</span><span class=quiet>{note}</span>"
    lost = " open" if exercise.points < exercise.max_points and not unwritten else ""
    return f"<details class=answer{lost}><summary>{heading}</summary>{_found(exercise, homework)}</details>"


def _found(exercise: ExerciseRecord, homework: HomeworkSource) -> str:
    """The mistakes by name, then each claim; a message that repeats the one before is left out."""
    claims = {check.name: check for check in homework.exercise(exercise.name).checks}
    known = {entry.name: entry for entry in homework.misconceptions}
    mistakes = "".join(_mistake(known[name]) for name in exercise.diagnosis if name in known)
    checks, before = [], ""
    for check in exercise.checks:
        if check.name in claims:
            message = "" if check.result == "passed" or check.message == before else check.message
            checks.append(_check(check, claims[check.name], message))
            before = check.message
    return f"{mistakes}<ul class=checks>{''.join(checks)}</ul>"


def _mistake(entry: Misconception) -> str:
    question = f"<p class=quiet>{rich(entry.question)}</p>"
    return f"<div class=mistake><p>{rich(entry.diagnosis)}</p>{question}</div>"


def _check(check: CheckRecord, claim: Check, message: str) -> str:
    colour, mark = MARKS[check.result]
    hidden = " <span class=quiet>(hidden)</span>" if check.hidden else ""
    shown = f"<pre>{text(message)}</pre>" if message else ""
    return f"<li><span class={colour}>{mark}</span> {rich(claim.claim)}{hidden}{shown}</li>"
