"""Grading a folder of submissions: judges on every core or every machine, and one writer of the marks."""

from __future__ import annotations

import gc
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from autograder.collect import Found, collect
from autograder.comments import comments
from autograder.forked import Lost
from autograder.homework import require_name
from autograder.in_place import SENTENCE
from autograder.interrupts import interrupts_wait
from autograder.isolation import Limits
from autograder.order import Order
from autograder.paper import Paper, paper_of
from autograder.plan import Plan
from autograder.pool import Judges, local_judges
from autograder.records import (
    ExerciseRecord,
    HomeworkRecord,
    RecordFolder,
    SubmissionRecord,
    remove_left_over,
    write,
)
from autograder.submission import Graded, not_run
from autograder.versions import counted, priced

if TYPE_CHECKING:
    from autograder.gradebook import MarkBook

PACKAGES = ("language-models-from-scratch", "torch", "numpy", "nbgrader")
SECONDS_BETWEEN_SUMMARIES = 1.0


def grade(
    name: str,
    submissions: Path,
    *,
    root: Path = Path("."),
    jobs: int | None = None,
    dask: str | None = None,
    isolation: str = "best",
    again: bool = False,
    json_file: Path | None = None,
    limits: Limits | None = None,
    forbidden_costs_points: bool = True,
    gradebook: str | None = None,
) -> HomeworkRecord:
    """Grade what was handed in or changed since the last time, or all of it `again`; the record of all.

    Each student's record is in grades/NAME/ and in the gradebook as soon as it is there; all together are
    in grades/NAME.json, and in `json_file`. Stopping keeps what is finished. Calls that an exercise forbids
    are flagged, and cost it its points unless told otherwise.
    dask: the address of a Dask cluster whose workers judge; None has them judged here, `jobs` at once.
    gradebook: the URL of a database; None takes the one of nbgrader_config.py.
    Raises what a person must mend: IsolationUnavailable, NothingHandedIn, NotReleased, GradebookUnavailable,
    ClusterUnavailable or SourceError.
    """
    root = Path(root)
    require_name(name, root)
    found = collect(Path(submissions), name)
    order = Order(name, isolation, limits or Limits(), forbidden_costs_points)
    with judges_for(order, root, jobs, dask) as judges, mark_book(root, name, gradebook) as marks:
        plan = order.plan(root)
        marks.require(plan.points)
        marks.require(plan.points_in_source)
        clerk = Clerk(plan, marks, RecordFolder(root / "grades", name), judges, found, json_file)
        remove_left_over(clerk.folders())
        gc.enable()  # which the command line leaves off while it imports
        clerk.work([Task(submission) for submission in found] if again else list(clerk.due()))
        marks.enter_penalties()
        return clerk.summary()


def judges_for(
    order: Order, root: Path, jobs: int | None, dask: str | None
) -> AbstractContextManager[Judges]:
    """The judges on this machine, or those on a cluster."""
    if dask is None:
        return local_judges(order.isolation, order.limits, jobs)
    from autograder.cluster.driver import cluster_judges

    return cluster_judges(dask, order, root)


def mark_book(root: Path, name: str, gradebook: str | None) -> MarkBook:
    """The gradebook of a homework; nbgrader is imported only here, while the warm process starts.

    It imports jsonschema, which would compile a grammar of international web addresses where that is
    installed: two thirds of nbgrader's start, for a format that no notebook has.
    """
    sys.modules.setdefault("rfc3987_syntax", None)
    from autograder.gradebook import MarkBook

    return MarkBook(root, name, gradebook)


@dataclass(frozen=True)
class Task:
    """A submission to be judged, and what of its earlier verdicts still holds."""

    submission: Found
    kept: Mapping[str, ExerciseRecord] = field(default_factory=dict)
    seed: int | None = None  # that drew the hidden inputs before; None draws anew

    def paper(self) -> Paper:
        return paper_of(self.submission, self.kept, self.seed)


@dataclass
class Clerk:
    """Knows what is graded already, has the rest judged, and alone writes records, notebooks and marks."""

    plan: Plan
    marks: MarkBook
    folder: RecordFolder
    judges: Judges
    found: Sequence[Found]
    json_file: Path | None = None

    def __post_init__(self) -> None:
        self.records = {record.student: record for record in self.folder.all()}

    def due(self) -> Iterator[Task]:
        """What is new or changed, whose checks changed, or whose marks are not in the gradebook.

        Where only points changed, they are counted anew on the way.
        """
        entered = self.marks.entered()
        for submission in self.found:
            record = self.records.get(submission.student)
            if record is None or record.source != paper_of(submission).digest:
                yield Task(submission)
                continue
            kept = self.still_valid(record)
            if len(kept) < len(self.plan.homework.exercises):
                yield Task(submission, kept, record.seed)
            elif not self.settled(counted(record, kept), submission, entered.get(record.student)):
                yield Task(submission)

    def still_valid(self, record: SubmissionRecord) -> dict[str, ExerciseRecord]:
        """The verdicts that rest on the homework as it is now, with the points they are worth now."""
        versions = self.plan.versions
        valid = [
            entry for entry in record.exercises if record.versions.get(entry.name) == versions.get(entry.name)
        ]
        if record.status != "graded" and len(valid) < len(versions):
            return {}
        return {entry.name: priced(entry, self.plan.homework) for entry in valid}

    def settled(
        self, record: SubmissionRecord, submission: Found, entered: Mapping[str, float | None] | None
    ) -> bool:
        """Whether a valid record has arrived where it belongs; points that changed are entered first."""
        student = record.student
        is_there = self.marks.notebook_path(student).is_file() and entered is not None
        if submission.handed_in and not is_there:
            return False
        if record != self.records[student]:
            self.folder.add(record)
            self.records[student] = record
            if submission.handed_in:
                self.marks.reprice(student, points_of(record, self.plan), self.plan.points)
            return True
        return not submission.handed_in or points_of(record, self.plan).items() <= entered.items()

    def folders(self) -> set[Path]:
        """Where this run writes."""
        students = {self.marks.notebook_path(submission.student).parent for submission in self.found}
        summaries = {path.parent for path in self.summary_files()}
        return {self.folder.path, *summaries, *students}

    def summary_files(self) -> list[Path]:
        """The files that hold all records together."""
        return [self.folder.path.with_suffix(".json"), *([self.json_file] if self.json_file else [])]

    def work(self, todo: Sequence[Task]) -> None:
        """Have the submissions judged, and save each as it comes."""
        judged = self.judges.judged(todo, self.plan)
        next_summary = time.monotonic() + SECONDS_BETWEEN_SUMMARIES
        try:
            with closing(judged) as results:
                for task, result in Progress(results, total=len(todo), unit="submission", disable=None):
                    with interrupts_wait():
                        self.save(task.submission, self.understood(task.submission, result))
                    if (begun := time.monotonic()) > next_summary:
                        self.summary()
                        took = time.monotonic() - begun
                        next_summary = begun + max(SECONDS_BETWEEN_SUMMARIES, 20 * took)
        finally:
            self.summary()

    def understood(self, submission: Found, result: dict | Lost) -> Graded:
        """What a judge delivered; where it was lost, that is no fault of the student's."""
        if isinstance(result, Lost):
            problem = f"The grader failed here: its process {result.reason}. Run it again."
            return not_run(submission.student, problem, self.plan)
        return Graded.from_json(result)

    def save(self, submission: Found, graded: Graded) -> None:
        """Keep the record, then the notebook, then the marks; what a crash leaves out, the next run does."""
        student = graded.record.student
        before = self.records.get(student)
        self.folder.add(graded.record)
        self.records[student] = graded.record
        if submission.handed_in:
            self.marks.write_notebook(student, graded.notebook)
            self.marks.write(
                student,
                points_of(graded.record, self.plan) | written_points(graded, self.plan),
                comments(graded, self.plan),
                timestamp=submission.timestamp,
                new_bytes=before is None or before.source != graded.record.source,
            )

    def in_place(self) -> dict[str, str]:
        """What is to be known of marks whose checks were not kept apart."""
        return {"checks": SENTENCE} if self.plan.homework.in_place else {}

    def summary(self) -> HomeworkRecord:
        """All records there are of the students found, written to the files that hold them together."""
        students, level = [submission.student for submission in self.found], self.judges.level
        record = HomeworkRecord(
            homework=self.plan.homework.name,
            submissions=tuple(self.records[student] for student in students if student in self.records),
            isolation={"level": level.name, "reason": level.reason, **self.in_place()},
            versions=versions(),
            graded_by_hand=self.plan.written,
        )
        for path in self.summary_files():
            write(path, record)
        return record


class Progress(tqdm):
    """A progress bar without a thread of its own, which no fork would survive well."""

    monitor_interval = 0


def versions() -> dict[str, str]:
    """What the marks were made with."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def points_of(record: SubmissionRecord, plan: Plan) -> dict[str, float | None]:
    """What each check earned; None where it could not be run, which a person decides."""
    checks = (check for exercise in record.exercises for check in exercise.checks)
    earned = {"passed": plan.points, "failed": dict.fromkeys(plan.points, 0.0)}
    return {check.name: earned.get(check.result, {}).get(check.name) for check in checks}


def written_points(graded: Graded, plan: Plan) -> dict[str, float | None]:
    """Nothing for a question that was left as it is; otherwise a person decides."""
    is_read = graded.record.status == "graded"
    return {name: 0.0 if is_read and name in graded.unanswered else None for name in plan.written}
