"""Grading a folder of submissions: a forked judge for each, on every core, and one writer of the marks."""

from __future__ import annotations

import gc
import hashlib
import os
import platform
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from tqdm import tqdm

from autograder.collect import Found, Unreadable, collect, read
from autograder.comments import comments
from autograder.forked import Lost, forked
from autograder.homework import require_name
from autograder.isolation import Level, Limits, Warm, choose
from autograder.plan import Plan, plan_for
from autograder.records import ExerciseRecord, HomeworkRecord, RecordFolder, SubmissionRecord, write
from autograder.submission import Graded, grade_submission, not_run
from autograder.versions import counted, priced

if TYPE_CHECKING:
    from autograder.gradebook import MarkBook

PACKAGES = ("language-models-from-scratch", "torch", "numpy", "nbgrader")
JOBS_PER_CORE = 2  # a judge and its student take turns, and each waits while a sandbox starts
GRACE_SECONDS = 60.0  # for a judge, beyond what its submission may use
SECONDS_BETWEEN_SUMMARIES = 1.0


def grade(
    name: str,
    submissions: Path,
    *,
    root: Path = Path("."),
    jobs: int | None = None,
    isolation: str = "best",
    again: bool = False,
    json_file: Path | None = None,
    limits: Limits | None = None,
    forbidden_costs_points: bool = True,
) -> HomeworkRecord:
    """Grade what was handed in or changed since the last time, or all of it `again`; the record of all.

    Each student's record is in grades/NAME/ and in the gradebook as soon as it is there; all together are
    in grades/NAME.json, and in `json_file`. Stopping keeps what is finished. Calls that an exercise forbids
    are flagged, and cost it its points unless told otherwise.
    Raises what a person must mend: IsolationUnavailable, NothingHandedIn, NotReleased,
    GradebookUnavailable or SourceError.
    """
    torch.set_num_threads(1)  # every core has a judge of its own
    root = Path(root)
    require_name(name, root)
    found = collect(Path(submissions), name)
    level, limits = choose(isolation), limits or Limits()
    with warm_meanwhile(level, limits) as warm_process, mark_book(root, name) as marks:
        plan = replace(plan_for(name, root, limits), forbidden_costs_points=forbidden_costs_points)
        marks.require(plan.points)
        marks.require(plan.points_in_source)
        plan.prepare()
        clerk = Clerk(plan, marks, RecordFolder(root / "grades", name), level, found, json_file)
        todo = [Task(submission) for submission in found] if again else list(clerk.due())
        clerk.work(todo, warm_process(), jobs or JOBS_PER_CORE * (os.cpu_count() or 1))
        marks.enter_penalties()
        return clerk.summary()


def mark_book(root: Path, name: str) -> MarkBook:
    """The gradebook of a homework; nbgrader is imported only here, while the warm process starts."""
    from autograder.gradebook import MarkBook

    return MarkBook(root, name)


@contextmanager
def warm_meanwhile(level: Level, limits: Limits) -> Iterator[Callable[[], Warm]]:
    """A warm process that starts while the caller prepares; calling what is yielded waits for it."""
    warm = Warm(level, limits)
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(warm.__enter__)

        def wait() -> Warm:
            starting.result()
            pool.shutdown()  # no second thread may be left when judges are forked
            return warm

        try:
            yield wait
        finally:
            if starting.exception() is None:
                warm.close()


@dataclass(frozen=True)
class Task:
    """A submission to be judged, and what of its earlier verdicts still holds."""

    submission: Found
    kept: Mapping[str, ExerciseRecord] = field(default_factory=dict)
    seed: int | None = None  # that drew the hidden inputs before; None draws anew


@dataclass
class Clerk:
    """Knows what is graded already, has the rest judged, and alone writes records, notebooks and marks."""

    plan: Plan
    marks: MarkBook
    folder: RecordFolder
    level: Level
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
            if record is None or record.source != digest(submission):
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

    def work(self, todo: Sequence[Task], warm: Warm, jobs: int) -> None:
        """Have the submissions judged, `jobs` at once, and save each as it comes."""

        def judge(task: Task) -> dict:
            return self.judged(task, warm).as_json()

        gc.collect()
        gc.freeze()  # what a judge does not collect stays shared memory
        seconds = self.plan.limits.submission_seconds + GRACE_SECONDS
        results = forked(todo, judge, jobs=jobs, seconds=seconds)
        next_summary = time.monotonic() + SECONDS_BETWEEN_SUMMARIES
        try:
            for task, result in Progress(results, total=len(todo), unit="submission", disable=None):
                self.save(task.submission, self.understood(task.submission, result))
                if (begun := time.monotonic()) > next_summary:
                    self.summary()
                    took = time.monotonic() - begun
                    next_summary = begun + max(SECONDS_BETWEEN_SUMMARIES, 20 * took)
        finally:
            results.close()
            self.summary()

    def judged(self, task: Task, warm: Warm) -> Graded:
        """Read and judge one submission; runs in a process forked for it."""
        submission = task.submission
        try:
            if submission.path is None:
                raise Unreadable(submission.problem)
            data = read(submission.path)
        except Unreadable as problem:
            graded = not_run(submission.student, str(problem), self.plan)
        else:
            seed = secrets.randbits(32) if task.seed is None else task.seed
            graded = grade_submission(submission.student, data, self.plan, warm.student, seed, task.kept)
        record = replace(
            graded.record,
            flags=submission.flags + graded.record.flags,
            source=digest(submission),
            isolation=self.level.name,
        )
        return replace(graded, record=record)

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

    def summary(self) -> HomeworkRecord:
        """All records there are of the students found, written to the files that hold them together."""
        students = [submission.student for submission in self.found]
        record = HomeworkRecord(
            homework=self.plan.homework.name,
            submissions=tuple(self.records[student] for student in students if student in self.records),
            isolation={"level": self.level.name, "reason": self.level.reason},
            versions=versions(),
            graded_by_hand=self.plan.written,
        )
        for path in (self.folder.path.with_suffix(".json"), self.json_file):
            if path is not None:
                write(path, record)
        return record


class Progress(tqdm):
    """A progress bar without a thread of its own, which no fork would survive well."""

    monitor_interval = 0


def digest(submission: Found) -> str:
    """SHA-256 of what was handed in, or of what is wrong with it."""
    try:
        data = submission.problem.encode() if submission.path is None else read(submission.path)
    except Unreadable as problem:
        data = str(problem).encode()
    return hashlib.sha256(data).hexdigest()


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
