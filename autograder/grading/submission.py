"""From a submission's bytes to its record: a pure function of the bytes, the plan and a seed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.grading.autograded import autograded_notebook
from autograder.grading.in_place import judge_in_place
from autograder.grading.judge import Judgement, judge
from autograder.grading.plan import Plan
from autograder.isolation.student import Student
from autograder.marks.records import (
    CheckRecord,
    ExerciseRecord,
    SubmissionRecord,
    submission_from,
    to_json,
)
from autograder.source.released import SourceCell
from autograder.submissions.collect import Unreadable
from autograder.submissions.handed_in import HandedCell, parse
from autograder.submissions.repair import Repaired, mix_up, repair


@dataclass(frozen=True)
class Graded:
    """A record, the notebook that shows it, and the answer cells that were left as released."""

    record: SubmissionRecord
    notebook: Mapping[str, Any]
    unanswered: tuple[str, ...]

    def as_json(self) -> dict:
        """The same as JSON data."""
        return {**vars(self), "record": json.loads(to_json(self.record))}

    @classmethod
    def from_json(cls, data: Mapping) -> Graded:
        """The inverse of `as_json`."""
        return cls(submission_from(data["record"]), data["notebook"], tuple(data["unanswered"]))


def grade_submission(
    student: str,
    data: bytes,
    plan: Plan,
    start: Callable[[], Student],
    seed: int,
    kept: Mapping[str, ExerciseRecord] | None = None,
) -> Graded:
    """Repair, judge and record one submission; its content never makes this raise.

    kept: exercise → a verdict that still holds.
    """
    begun = time.monotonic()
    try:
        handed, flags = parse(data)
    except Unreadable as problem:
        return not_run(student, str(problem), plan)
    repaired = repair(handed, plan.source, plan.retired)
    if mixed_up := mix_up(handed, repaired, plan.homework.name):
        return not_run(student, mixed_up, plan)
    if plan.homework.in_place:
        judgement = judge_in_place(plan, repaired, start)
    else:
        judgement = judge(plan, repaired, start, seed, kept)
    record = SubmissionRecord(
        student=student,
        points=sum(exercise.points for exercise in judgement.exercises),
        max_points=sum(exercise.max_points for exercise in judgement.exercises),
        status="graded",
        flags=(*flags, *repaired.flags, *judgement.flags),
        notes=repaired.notes,
        seconds=round(time.monotonic() - begun, 3),
        exercises=judgement.exercises,
        versions=plan.versions,
        seed=seed,
    )
    return _graded(record, repaired, judgement, plan)


def not_run(student: str, problem: str, plan: Plan) -> Graded:
    """The record of a submission that could not be run: no check has failed, and a person must decide."""
    exercises = tuple(
        ExerciseRecord(
            exercise.name,
            0.0,
            exercise.points,
            checks=tuple(
                CheckRecord(check.name, check.hidden, "could_not_run", problem) for check in exercise.checks
            ),
        )
        for exercise in plan.homework.exercises
    )
    most = sum(exercise.max_points for exercise in exercises)
    record = SubmissionRecord(
        student, 0.0, most, "could_not_run", problem, exercises=exercises, versions=plan.versions
    )
    return _graded(record, as_released(plan.source), Judgement(exercises, (), {}), plan)


def as_released(source: Sequence[SourceCell]) -> Repaired:
    """The homework as released, in place of a submission that cannot be read."""
    handed = [HandedCell(cell.kind, cell.released, cell.name, nbgrader=cell.nbgrader) for cell in source]
    return repair(handed, source)


def _graded(record: SubmissionRecord, repaired: Repaired, judgement: Judgement, plan: Plan) -> Graded:
    notebook = autograded_notebook(
        repaired.cells, judgement.outputs, record, plan.texts, plan.points_by_cell(record)
    )
    unanswered = tuple(
        cell.of.name
        for cell in repaired.cells
        if cell.of and cell.role in ("answer", "written") and cell.is_untouched
    )
    return Graded(record, notebook, unanswered)
