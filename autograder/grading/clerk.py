"""The coordinator of a grading run: knows what is due, has it judged, and alone writes the results."""

from __future__ import annotations

import contextlib
import platform
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from tqdm import tqdm

from autograder.grading.forked import Lost
from autograder.grading.in_place import SENTENCE
from autograder.grading.paper import Paper, digest_of, paper_of
from autograder.grading.plan import Plan
from autograder.grading.pool import Judges
from autograder.grading.submission import Graded, not_run
from autograder.marks.comments import comments
from autograder.marks.gradebook import MarkBook
from autograder.marks.records import (
    ExerciseRecord,
    HomeworkRecord,
    RecordFolder,
    SubmissionRecord,
    counted,
    priced,
    write,
)
from autograder.submissions.collect import RECEIPT, Found, Unreadable, read

PACKAGES = ("language-models-from-scratch", "torch", "numpy", "nbgrader")
SECONDS_BETWEEN_SUMMARIES = 1.0
LONGEST_RECEIPT = 1_000  # bytes


@dataclass(frozen=True)
class Task:
    """A submission to be judged, and those of its earlier verdicts that still hold."""

    submission: Found
    kept: Mapping[str, ExerciseRecord] = field(default_factory=dict)
    seed: int | None = None  # that drew the hidden inputs before; None draws a new one

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
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.records = {record.student: record for record in self.folder.all()}

    def due(self, among: Sequence[Found] | None = None) -> Iterator[Task]:
        """Submissions that are new or changed, that would be judged differently now, or that lack a mark.

        Where only points changed, they are recalculated on the way.
        among: the submissions to look at; None looks at all.
        """
        students = None if among is None else [submission.student for submission in among]
        entered, times = self.marks.entered(students), self.marks.times(students)
        for submission in self.found if among is None else among:
            record = self.records.get(submission.student)
            if record is None or record.source != digest_of(submission):
                yield Task(submission)
                continue
            kept = self.still_valid(record)
            if len(kept) < len(self.plan.homework.exercises):
                yield Task(submission, kept, record.seed)
            elif not self.settled(counted(record, kept), submission, entered.get(record.student)):
                yield Task(submission)
            else:
                self.hand_on_receipt(submission)
                self.note_arrival(submission, times.get(submission.student))

    def still_valid(self, record: SubmissionRecord) -> dict[str, ExerciseRecord]:
        """The verdicts that the present checks and conditions made, with the points they are worth now."""
        if record.conditions != self.plan.conditions:
            return {}
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
        """Whether gradebook and notebook agree with a valid record; changed points are entered first."""
        student = record.student
        is_there = self.marks.notebook_path(student).is_file() and entered is not None
        if submission.handed_in and not is_there:
            return False
        if record != self.records[student]:
            self.folder.add(record)
            self.records[student] = record
            if submission.handed_in:
                self.marks.reprice(student, self.plan.points_by_cell(record), self.plan.points)
            return True
        return not submission.handed_in or self.plan.points_by_cell(record).items() <= (entered or {}).items()

    def folders(self) -> set[Path]:
        """Where this run writes."""
        students = {self.marks.notebook_path(submission.student).parent for submission in self.found}
        summaries = {path.parent for path in self.summary_files()}
        return {self.folder.path, *summaries, *students}

    def summary_files(self) -> list[Path]:
        """The files that hold all records together."""
        return [self.folder.path.with_suffix(".json"), *([self.json_file] if self.json_file else [])]

    def work(self, todo: Sequence[Task]) -> None:
        """Have the submissions judged, and save each result as it arrives."""
        next_summary = time.monotonic() + SECONDS_BETWEEN_SUMMARIES
        saved = self.saved(todo)
        try:
            with closing(saved) as results:
                for _ in Progress(results, total=len(todo), unit="submission", disable=None):
                    if (begun := time.monotonic()) > next_summary:
                        self.summary()
                        took = time.monotonic() - begun
                        next_summary = begun + max(SECONDS_BETWEEN_SUMMARIES, 20 * took)
        finally:
            self.summary()

    def saved(
        self, todo: Sequence[Task], arriving: Callable[[], Iterable[Task]] | None = None
    ) -> Generator[Found, None, None]:
        """Have the submissions judged, and yield each when its record and its marks are saved.

        arriving: see `Judges.judged`.
        """
        return self._saved(self.judges.judged(todo, self.plan, arriving))

    def _saved(self, judged: Generator[tuple[Task, dict | Lost], None, None]) -> Generator[Found, None, None]:
        with closing(judged) as results:
            for task, result in results:
                with interrupts_wait():
                    self.save(task.submission, self.understood(task.submission, result))
                yield task.submission

    def understood(self, submission: Found, result: dict | Lost) -> Graded:
        """The judge's result; a lost one is recorded as "could not run", for a person to decide."""
        if isinstance(result, Lost):
            return not_run(submission.student, result.sentence, self.plan)
        return Graded.from_json(result)

    def save(self, submission: Found, graded: Graded) -> None:
        """Save the record, then the notebook, then the marks; after a crash, the next run does the rest."""
        student = graded.record.student
        before = self.records.get(student)
        self.folder.add(graded.record)
        self.records[student] = graded.record
        if submission.handed_in:
            self.marks.write_notebook(student, graded.notebook)
            self.hand_on_receipt(submission)
            self.marks.write(
                student,
                self.plan.points_by_cell(graded.record) | written_points(graded, self.plan),
                comments(graded.record, graded.unanswered, self.plan.homework),
                timestamp=submission.timestamp,
                new_bytes=before is None or before.source != graded.record.source,
            )

    def hand_on_receipt(self, submission: Found) -> None:
        """Copy what nbgrader wrote beside the submission to the graded notebook, where feedback needs it."""
        if submission.folder is None:
            return
        for name in RECEIPT:
            with contextlib.suppress(Unreadable):
                content = read(submission.folder / name, limit=LONGEST_RECEIPT)
                self.marks.write_beside(submission.student, name, content)

    def note_arrival(self, submission: Found, known: datetime | None) -> None:
        """Enter a time of arrival that was not known; the same file handed in again later is not late."""
        if submission.handed_in:
            self.marks.arrived(submission.student, submission.timestamp, known)

    def in_place(self) -> dict[str, str]:
        """The note on marks whose checks were not isolated from the student's code."""
        return {"checks": SENTENCE} if self.plan.homework.in_place else {}

    def summary(self) -> HomeworkRecord:
        """All records of the students found, written to the files that hold them together."""
        record = self.together()
        for path in self.summary_files():
            write(path, record)
        return record

    def together(self) -> HomeworkRecord:
        """All records of the students found."""
        students, level = [submission.student for submission in self.found], self.judges.level
        return HomeworkRecord(
            homework=self.plan.homework.name,
            submissions=tuple(self.records[student] for student in students if student in self.records),
            isolation={"level": level.name, "reason": level.reason, **self.in_place()},
            versions=versions(),
            graded_by_hand=self.plan.written,
            notes=self.notes,
        )


class Progress(tqdm):
    """A progress bar without a thread of its own, because this process is forked."""

    monitor_interval = 0


@cache
def versions() -> dict[str, str]:
    """The versions of the software that made the marks."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def written_points(graded: Graded, plan: Plan) -> dict[str, float | None]:
    """0 points for a written question that was left unanswered; None for a person to decide."""
    is_read = graded.record.status == "graded"
    return {name: 0.0 if is_read and name in graded.unanswered else None for name in plan.written}


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the end of this block; a second one interrupts it at once.

    For the main thread only.
    """
    arrived: list[int] = []

    def remember(signal_number: int, frame: FrameType | None) -> None:
        if arrived:
            raise KeyboardInterrupt
        arrived.append(signal_number)

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for first in arrived:
        signal.raise_signal(first)
