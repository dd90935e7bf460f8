"""Preview what a grading run would change; and grade one notebook alone, to answer a student's question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from autograder.grading.clerk import Clerk, Task
from autograder.grading.compared import Compared, compared
from autograder.grading.forked import Lost, forked
from autograder.grading.order import Order
from autograder.grading.paper import paper_of
from autograder.grading.pool import limits_of_a_judge, local_judges
from autograder.grading.submission import Graded, not_run
from autograder.isolation import Limits
from autograder.marks.records import HomeworkRecord, SubmissionRecord
from autograder.source.homework import HomeworkSource
from autograder.submissions.collect import Found


@dataclass
class Preview(Clerk):
    """A clerk that has the due submissions judged, and writes nothing."""

    def settled(
        self, record: SubmissionRecord, submission: Found, entered: Mapping[str, float | None] | None
    ) -> bool:
        """A valid record needs no judging; it already contains the changed points."""
        self.records[record.student] = record
        return True

    def save(self, submission: Found, graded: Graded) -> None:
        self.records[graded.record.student] = graded.record

    def hand_on_receipt(self, submission: Found) -> None:
        """Copy nothing."""

    def note_arrival(self, submission: Found, known: datetime | None) -> None:
        """Enter nothing."""

    def summary(self) -> HomeworkRecord:
        return self.together()


COSTS = "a forbidden call costs"  # followed by "its points" or "nothing"


@dataclass(frozen=True)
class Alone:
    """One notebook judged alone; `compared` has the claims of the exercise that was asked about."""

    graded: Graded
    homework: HomeworkSource
    compared: tuple[Compared, ...] = ()


class NothingToCompare(ValueError):
    """The calls of an exercise were asked for, but there are none; the message says why."""


def graded_alone(
    notebook: Path,
    name: str,
    root: Path,
    isolation: str = "best",
    seed: int | None = None,
    exercise: str | None = None,
) -> Alone:
    """Judge one file like a submission, without writing a record or a mark.

    seed: that of a record, to draw the same hidden inputs again. exercise: also compare every call that its
    checks make with the right answer; raises NothingToCompare if that is not possible.
    """
    limits = Limits()
    with local_judges(isolation, limits, 1) as judges:
        plan = Order(name, isolation, limits).plan(root)
        if exercise is not None:
            _require_exercise(exercise, plan.homework)
        task = Task(Found(notebook.stem, notebook), seed=seed)
        [(_, result)] = judges.judged([task], plan)
        if isinstance(result, Lost):
            return Alone(not_run(notebook.stem, result.sentence, plan), plan.homework)
        graded = Graded.from_json(result)
        if exercise is None or graded.record.status != "graded":
            return Alone(graded, plan.homework)
        others = {one.name: one for one in graded.record.exercises if one.name != exercise}
        paper = paper_of(task.submission, others, graded.record.seed)
        start = judges.warm().student
        work = partial(compared, plan=plan, start=start, exercise=exercise)
        [(_, result)] = forked([paper], work, jobs=1, **limits_of_a_judge(limits))
    if isinstance(result, Lost):
        raise NothingToCompare(result.sentence)
    return Alone(graded, plan.homework, tuple(map(Compared.from_json, result)))


def _require_exercise(name: str, homework: HomeworkSource) -> None:
    if homework.in_place:
        raise NothingToCompare(
            f"The checks of {homework.name} run inside the notebook, so there are no calls to compare."
        )
    names = [exercise.name for exercise in homework.exercises]
    if name not in names:
        raise NothingToCompare(f"{homework.name} has no exercise {name}; it has: {', '.join(names)}.")


def made_by(record: SubmissionRecord) -> str:
    """One line that traces a mark to the checks, versions, seed and isolation level that made it."""
    parts = {"isolation": record.isolation, "seed": record.seed, **record.conditions}
    parts = {COSTS if name == "forbidden call" else name: value for name, value in parts.items()}
    return ", ".join(f"{name} {str(value)[:20]}" for name, value in parts.items() if value not in ("", None))
