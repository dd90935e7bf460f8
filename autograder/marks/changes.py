"""The marks that regrading changed, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from autograder.marks.decisions import Decision, Given
from autograder.marks.records import SubmissionRecord
from autograder.markup import one_line

CONDITIONS = {
    "grader": "the grader",
    "limits": "the limits",
    "forbidden call": "the cost of a forbidden call",
}


@dataclass(frozen=True)
class Change:
    """One student's points before and after, and the exercises that made the difference."""

    student: str
    before: float
    after: float
    exercises: tuple[tuple[str, float, float], ...]
    why: str = ""  # if something other than the homework changed


def changes(before: Iterable[SubmissionRecord], after: Iterable[SubmissionRecord]) -> list[Change]:
    """Students who were graded before and whose points changed in at least one exercise."""
    earlier = {record.student: record for record in before}
    pairs = [(earlier[record.student], record) for record in after if record.student in earlier]
    return [_change(old, new) for old, new in pairs if _differs(old, new)]


def point_changes(
    homework: str, before: Iterable[SubmissionRecord], after: Iterable[SubmissionRecord]
) -> list[Decision]:
    """The same changes as entries for the log of decisions."""
    return [
        Decision(homework, change.student, "points", new, old, exercise, change.why)
        for change in changes(before, after)
        for exercise, old, new in change.exercises
    ]


def _differs(old: SubmissionRecord, new: SubmissionRecord) -> bool:
    return bool(_by_exercise(old, new)) or old.status != new.status


def _change(old: SubmissionRecord, new: SubmissionRecord) -> Change:
    why = "submitted again" if old.source != new.source else ""
    why = "could not be run before" if (old.status, new.status) == ("could_not_run", "graded") else why
    why = "could not be run now" if (old.status, new.status) == ("graded", "could_not_run") else why
    return Change(new.student, old.points, new.points, tuple(_by_exercise(old, new)), why)


def _by_exercise(old: SubmissionRecord, new: SubmissionRecord) -> list[tuple[str, float, float]]:
    had = {exercise.name: exercise.points for exercise in old.exercises}
    return [
        (exercise.name, had.get(exercise.name, 0.0), exercise.points)
        for exercise in new.exercises
        if exercise.points != had.get(exercise.name, 0.0)
    ]


def examined_again(before: Iterable[SubmissionRecord], after: Iterable[SubmissionRecord]) -> Counter[str]:
    """What changed → how many unchanged submissions were examined again because of it.

    A changed exercise is counted only if nothing changed that affects all exercises.
    """
    earlier = {(record.student, record.source): record for record in before}
    pairs = [(earlier.get((record.student, record.source)), record) for record in after]
    return Counter(what for old, new in pairs if old is not None for what in _changed(old, new))


def _changed(old: SubmissionRecord, new: SubmissionRecord) -> list[str]:
    if not old.conditions and new.conditions:  # the record is from a grader that did not record them yet
        return [CONDITIONS["grader"]]
    conditions = [name for name, value in new.conditions.items() if old.conditions.get(name) != value]
    if conditions:
        return [" and ".join(CONDITIONS.get(name, name) for name in conditions)]
    return [f"`{name}`" for name, version in new.versions.items() if old.versions.get(name) != version]


def _students(count: int) -> str:
    return "1 student" if count == 1 else f"{count} students"


def in_words(
    before: Iterable[SubmissionRecord], after: Iterable[SubmissionRecord], verb: str = "changed"
) -> Iterator[str]:
    """The lines that `autograder grade` prints about changes; none if nobody had been graded before.

    verb: "would change", if nothing has been written.
    """
    before, after = list(before), list(after)
    again = examined_again(before, after)
    for what, count in again.items():
        yield f"Re-examined, because {what} changed: {_students(count)}."
    found = changes(before, after)
    if found:
        yield f"1 mark {verb}:" if len(found) == 1 else f"{len(found)} marks {verb}:"
    elif again:
        yield f"No mark {verb}."
    names = [one_line(change.student) for change in found]
    width = max(map(len, names), default=0)
    for name, change in zip(names, found, strict=True):
        parts = [f"{exercise} {old:g} → {new:g}" for exercise, old, new in change.exercises]
        parts += [change.why] if change.why else []
        sign = f"{change.after - change.before:+g}"
        points = f"{change.before:g} → {change.after:g}"
        yield f"  {name.ljust(width)}  {points}  ({sign})  {'; '.join(parts)}"


def kept_by_hand(given: Iterable[Given], changed: Iterable[Decision]) -> Iterator[str]:
    """Lines about cells with changed points that a manual mark replaces, so that no total changes."""
    exercises = {(one.student, one.cell) for one in changed}
    kept = [
        (student, cell)
        for what, student, cell in sorted(given)
        if what == "mark by hand" and (student, cell.rpartition("-")[0]) in exercises
    ]
    if kept:
        yield "Of these, marks by hand would stay, whatever the checks give:"
    for student, cell in kept:
        yield f"  {one_line(student)}: {cell}"


def marked_by_hand(cells: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Lines about manual marks whose automatic points, or files, have changed."""
    if cells:
        yield "Manual marks kept; please review them, because what they were given for has changed:"
    for student, names in cells.items():
        yield f"  {one_line(student)}: {', '.join(names)}"
