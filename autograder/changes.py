"""Whose marks a second grading changed, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from autograder.records import SubmissionRecord


@dataclass(frozen=True)
class Change:
    """One student's points before and after, and the exercises that made the difference."""

    student: str
    before: float
    after: float
    exercises: tuple[tuple[str, float, float], ...]
    why: str = ""  # where it is not the homework that changed


def changes(before: Iterable[SubmissionRecord], after: Iterable[SubmissionRecord]) -> list[Change]:
    """Everybody who was graded before and whose points for some exercise are others now."""
    earlier = {record.student: record for record in before}
    pairs = [(earlier[record.student], record) for record in after if record.student in earlier]
    return [_change(old, new) for old, new in pairs if _differs(old, new)]


def _differs(old: SubmissionRecord, new: SubmissionRecord) -> bool:
    return bool(_by_exercise(old, new)) or old.status != new.status


def _change(old: SubmissionRecord, new: SubmissionRecord) -> Change:
    why = "handed in anew" if old.source != new.source else ""
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
    """Exercise → for how many unchanged submissions it was examined again."""
    versions = {(record.student, record.source): record.versions for record in before}
    return Counter(
        exercise
        for record in after
        if (record.student, record.source) in versions
        for exercise, version in record.versions.items()
        if versions[record.student, record.source].get(exercise) != version
    )


def in_words(before: Iterable[SubmissionRecord], after: Iterable[SubmissionRecord]) -> Iterator[str]:
    """What `autograder grade` prints of it; nothing where nobody had been graded before."""
    before, after = list(before), list(after)
    again = examined_again(before, after)
    if again:
        names = ", ".join(f"{name} ({count})" for name, count in again.items())
        yield f"Examined again, for so many students: {names}."
    found = changes(before, after)
    if found:
        yield "1 mark changed:" if len(found) == 1 else f"{len(found)} marks changed:"
    elif again:
        yield "No mark changed."
    width = max((len(change.student) for change in found), default=0)
    for change in found:
        parts = [f"{name} {old:g} → {new:g}" for name, old, new in change.exercises]
        parts += [change.why] if change.why else []
        sign = f"{change.after - change.before:+g}"
        points = f"{change.before:g} → {change.after:g}"
        yield f"  {change.student.ljust(width)}  {points}  ({sign})  {'; '.join(parts)}"


def marked_by_hand(cells: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Where a person's mark stands over automatic points that are others now."""
    if cells:
        yield "Marked by hand, kept as it is, and to be looked at again:"
    for student, names in cells.items():
        yield f"  {student}: {', '.join(names)}"
