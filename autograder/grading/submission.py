"""From a submission's bytes to its record: a pure function of the bytes, the plan and a seed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.grading.autograded import autograded_notebook
from autograder.grading.in_place import judge_in_place
from autograder.grading.judge import Judgement, judge
from autograder.grading.plan import Plan
from autograder.isolation.student import Student
from autograder.languages.editions import Edition
from autograder.marks.records import (
    CheckRecord,
    ExerciseRecord,
    SubmissionRecord,
    most_points,
    submission_from,
    to_json,
)
from autograder.source.released import SourceCell
from autograder.submissions.collect import Unreadable
from autograder.submissions.handed_in import HandedCell, parse
from autograder.submissions.repair import Repaired, mix_up, repair
from course.language import Language


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
        handed = parse(data)
    except Unreadable as problem:
        return not_run(student, problem.sentence, plan)
    edition = plan.edition(handed.language)
    repaired = repair(handed.cells, edition.source, plan.retired)
    if mixed_up := mix_up(handed.cells, repaired, plan.homework.name):
        return not_run(student, mixed_up, plan, edition)
    if plan.homework.in_place:
        judgement = judge_in_place(plan, repaired, start)
    else:
        judgement = judge(plan, repaired, start, seed, kept, edition.language)
    record = SubmissionRecord(
        student=student,
        points=sum(exercise.points for exercise in judgement.exercises),
        max_points=most_points(judgement.exercises),
        status="graded",
        flags=(*handed.flags, *repaired.flags, *judgement.flags),
        notes=repaired.notes,
        seconds=round(time.monotonic() - begun, 3),
        exercises=judgement.exercises,
        versions=plan.versions,
        seed=seed,
        language=edition.language.name,
    )
    return _graded(record, repaired, judgement, plan, edition)


def not_run(student: str, problem: str, plan: Plan, edition: Edition | None = None) -> Graded:
    """The record of a submission that could not be run: no check has failed, and a person must decide."""
    edition = edition or plan.edition("")
    said = edition.language(problem) if edition.language.translations else ""
    exercises = tuple(
        ExerciseRecord(
            exercise.name,
            0.0,
            exercise.points,
            bonus=exercise.bonus,
            checks=tuple(
                CheckRecord(check.name, check.hidden, "could_not_run", problem, said)
                for check in exercise.checks
            ),
        )
        for exercise in plan.homework.exercises
    )
    record = SubmissionRecord(
        student,
        0.0,
        most_points(exercises),
        "could_not_run",
        problem,
        exercises=exercises,
        versions=plan.versions,
        language=edition.language.name,
    )
    return _graded(record, as_released(edition.source), Judgement(exercises, (), {}), plan, edition)


def as_released(source: Sequence[SourceCell]) -> Repaired:
    """The homework as released, in place of a submission that cannot be read."""
    handed = [HandedCell(cell.kind, cell.released, cell.name, nbgrader=cell.nbgrader) for cell in source]
    return repair(handed, source)


def translated(record: SubmissionRecord, language: Language) -> SubmissionRecord:
    """The record, with what it says about the whole submission in the student's language too."""
    if language.translations is None:
        return record
    said = (record.problem, *record.flags, *record.notes)
    return replace(record, said={str(text): language(text) for text in said if text})


def _graded(
    record: SubmissionRecord, repaired: Repaired, judgement: Judgement, plan: Plan, edition: Edition
) -> Graded:
    record = translated(record, edition.language)
    notebook = autograded_notebook(
        repaired.cells,
        judgement.outputs,
        record,
        edition.texts,
        plan.points_by_cell(record),
        edition.language,
    )
    unanswered = tuple(
        cell.of.name
        for cell in repaired.cells
        if cell.of and cell.role in ("answer", "written") and cell.is_untouched
    )
    return Graded(record, notebook, unanswered)
