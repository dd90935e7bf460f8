"""Statistics of a class, counted from the records of one homework."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.marks.records import ExerciseRecord, HomeworkRecord, SubmissionRecord, is_unwritten
from autograder.source.homework import Exercise, HomeworkSource


@dataclass(frozen=True)
class MistakeCount:
    """A catalogued mistake and the students whose answers look like it."""

    name: str
    diagnosis: str
    question: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class ExerciseStatistics:
    """How the class did on one exercise."""

    name: str
    title: str
    max_points: float
    mean_share: float  # fraction of the points
    full_marks: int
    unwritten: int
    unexplained: int  # answers that lost points without a known mistake
    mistakes: tuple[MistakeCount, ...]


@dataclass(frozen=True)
class ClassStatistics:
    """How the class did on one homework; fractions and means are over the submissions that could be run."""

    points: tuple[float, ...]
    max_points: float
    graded: tuple[SubmissionRecord, ...]
    could_not_run: tuple[SubmissionRecord, ...]
    flagged: tuple[SubmissionRecord, ...]
    exercises: tuple[ExerciseStatistics, ...]

    @property
    def median(self) -> float | None:
        return statistics.median(self.points) if self.points else None

    @property
    def mean(self) -> float | None:
        return statistics.fmean(self.points) if self.points else None

    @property
    def slowest(self) -> tuple[SubmissionRecord, ...]:
        return tuple(sorted(self.graded, key=lambda record: -record.seconds)[:3])

    def commonest(self, count: int) -> list[tuple[ExerciseStatistics, MistakeCount]]:
        """The mistakes most students make, with their exercises."""
        pairs = [(exercise, mistake) for exercise in self.exercises for mistake in exercise.mistakes]
        made = [pair for pair in pairs if pair[1].students]
        return sorted(made, key=lambda pair: -len(pair[1].students))[:count]


def class_statistics(record: HomeworkRecord, homework: HomeworkSource) -> ClassStatistics:
    """Statistics of a homework's submissions; those that could not be run are counted apart, not as 0."""
    graded = tuple(entry for entry in record.submissions if entry.status == "graded")
    by_exercise: defaultdict[str, dict[str, ExerciseRecord]] = defaultdict(dict)
    for submission in graded:
        for exercise in submission.exercises:
            by_exercise[exercise.name][submission.student] = exercise
    return ClassStatistics(
        points=tuple(submission.points for submission in graded),
        max_points=record.max_points,
        graded=graded,
        could_not_run=tuple(entry for entry in record.submissions if entry.status != "graded"),
        flagged=tuple(entry for entry in record.submissions if entry.flags),
        exercises=tuple(
            _exercise(exercise, homework, by_exercise[exercise.name]) for exercise in homework.exercises
        ),
    )


def _exercise(
    exercise: Exercise, homework: HomeworkSource, answers: dict[str, ExerciseRecord]
) -> ExerciseStatistics:
    made = Counter(name for answer in answers.values() for name in answer.diagnosis)
    mistakes = [
        MistakeCount(entry.name, entry.diagnosis, entry.question, tuple(_who(entry.name, answers)))
        for entry in homework.misconceptions
        if entry.of == exercise.name
    ]
    shares = [answer.points / answer.max_points for answer in answers.values() if answer.max_points]
    return ExerciseStatistics(
        name=exercise.name,
        title=exercise.title,
        max_points=exercise.points,
        mean_share=statistics.fmean(shares) if shares else 0.0,
        full_marks=sum(share == 1 for share in shares),
        unwritten=sum(map(is_unwritten, answers.values())),
        unexplained=sum(map(_is_unexplained, answers.values())),
        mistakes=tuple(sorted(mistakes, key=lambda mistake: -made[mistake.name])),
    )


def _is_unexplained(answer: ExerciseRecord) -> bool:
    return answer.points < answer.max_points and not answer.diagnosis and not is_unwritten(answer)


def _who(mistake: str, answers: dict[str, ExerciseRecord]) -> Iterable[str]:
    return (student for student, answer in answers.items() if mistake in answer.diagnosis)


def histogram(points: Iterable[float], max_points: float, bins: int = 10) -> list[int]:
    """How many marks are in each of `bins` equal parts of the scale; full marks are in the last."""
    counts = [0] * bins
    for mark in points:
        counts[min(int(mark / max_points * bins), bins - 1) if max_points else 0] += 1
    return counts
