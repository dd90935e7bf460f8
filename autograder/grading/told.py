"""A record as its student may see it: for a hidden check only whether it holds, or nothing yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from autograder.catalogue import Misconception
from autograder.checking.memorised import ONLY_THE_EXAMPLES
from autograder.grading.redaction import DOES_NOT_HOLD, ENDED
from autograder.languages.catalogues import language_of
from autograder.marks.records import CheckRecord, ExerciseRecord, SubmissionRecord
from autograder.source.homework import Exercise, HomeworkSource, title
from course.language import ENGLISH, Language


@dataclass(frozen=True)
class ToldCheck:
    """One claim and how it ended; `message` is empty where it holds."""

    name: str
    claim: str
    holds: bool
    message: str


@dataclass(frozen=True)
class ToldExercise:
    """One exercise; `points` are None while hidden checks are withheld, which they would reveal."""

    title: str
    points: float | None
    max_points: float
    checks: tuple[ToldCheck, ...]
    mistakes: tuple[Misconception, ...]


@dataclass(frozen=True)
class Verdict:
    """What a student is shown about one submission; for `points`, see ToldExercise."""

    problem: str
    notes: tuple[str, ...]
    exercises: tuple[ToldExercise, ...]
    points: float | None
    max_points: float
    language: Language = ENGLISH

    @property
    def holding(self) -> int:
        """How many of the checks shown hold."""
        return sum(check.holds for exercise in self.exercises for check in exercise.checks)

    @property
    def told(self) -> int:
        """How many checks are shown."""
        return sum(len(exercise.checks) for exercise in self.exercises)


def as_told(record: SubmissionRecord, homework: HomeworkSource, *, hidden: bool = True) -> Verdict:
    """What the student is shown. hidden: whether hidden checks are included, and the points with them."""
    known = {exercise.name: exercise for exercise in homework.exercises}
    language = language_of(homework.folder.parent.parent, record.language, homework.name)
    told = tuple(
        _exercise(found, known[found.name], homework, hidden, language)
        for found in record.exercises
        if found.name in known
    )
    notes = (note for note in (*record.flags, *record.notes) if hidden or ENDED not in note)
    problem, *shown = (record.said.get(text, text) for text in (record.problem, *notes))
    points = record.points if hidden else None
    return Verdict(problem, tuple(shown), told, points, record.max_points, language)


def _exercise(
    record: ExerciseRecord, exercise: Exercise, homework: HomeworkSource, hidden: bool, language: Language
) -> ToldExercise:
    mistakes = (
        replace(entry, diagnosis=language(entry.diagnosis), question=language(entry.question))
        for entry in homework.misconceptions
        if entry.name in record.told
    )
    claims = {check.name: language(check.claim) for check in exercise.checks}
    checks = [
        _check(check, claims[check.name], hidden, language)
        for check in record.checks
        if check.name in claims and (hidden or not check.hidden)
    ]
    once = without_repeats(check.message for check in checks)
    shown = tuple(replace(check, message=message) for check, message in zip(checks, once, strict=True))
    points = record.points if hidden else None
    return ToldExercise(
        title(language.text(exercise.statement)), points, record.max_points, shown, tuple(mistakes)
    )


def without_repeats(messages: Iterable[str]) -> list[str]:
    """The messages of successive checks, empty where one would only repeat the message before it."""
    return ["" if now == before else now for before, now in pairwise(["", *messages])]


def _check(check: CheckRecord, claim: str, hidden: bool, language: Language) -> ToldCheck:
    """One check; if it earns nothing because of hidden checks, that is withheld with them."""
    holds = check.result == "passed" or (not hidden and check.message == ONLY_THE_EXAMPLES)
    message = language(DOES_NOT_HOLD) if check.hidden and check.result == "failed" else check.in_words
    return ToldCheck(check.name, claim, holds, "" if holds else message)


def in_words(told: Verdict) -> Iterator[str]:
    """The verdict as lines for a terminal."""
    yield from ([f"This submission could not be run. {told.problem}"] if told.problem else [])
    yield from (f"Note: {note}" for note in told.notes)
    for exercise in () if told.problem else told.exercises:  # where every check would repeat the problem
        points = "" if exercise.points is None else f": {exercise.points:g} of {exercise.max_points:g}"
        yield f"{exercise.title}{points}"
        for check in exercise.checks:
            yield f"  {'✓' if check.holds else '✗'} {check.claim}"
            yield from (f"      {line}" for line in check.message.splitlines())
        for entry in exercise.mistakes:
            yield f"  → {entry.diagnosis} {entry.question}"
    if told.points is not None:
        sums = f"{told.points:g} of {told.max_points:g} points"
        yield f"{sums} for the checks, before answers marked by hand and late penalties."
