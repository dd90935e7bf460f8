"""The grader's results as data: the same fields on disk, in the gradebook, in reports and in exports.

A check ends in one of three ways. *could_not_run* is not a verdict on the student: it never counts as failed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from autograder.source.homework import HomeworkSource, Result

LONGEST_FILE_NAME = 200  # bytes; file systems allow 255
UNFINISHED = ".autograder-", ".part"  # how the name of a file that is being written begins and ends
SECONDS_UNTIL_LEFT_OVER = 3600.0  # far longer than any write takes
LEFT_OUT: Mapping[str, tuple] = {  # by field
    "said": ("", {}),
    "language": ("en",),
    "bonus": (False,),
    "judged_again": ((),),
}

Status = Literal["graded", "could_not_run"]


@dataclass(frozen=True)
class CheckRecord:
    """How one claim ended, with the text that the student reads."""

    name: str
    hidden: bool
    result: Result
    message: str = ""
    said: str = ""  # the message in the student's language, if that is not English

    @property
    def in_words(self) -> str:
        """The message in the student's language."""
        return self.said or self.message


@dataclass(frozen=True)
class ExerciseRecord:
    """One exercise: points, the names of the mistakes it looks like, and its checks in order.

    `told` are the names that follow from visible checks alone. Only these are shown to students, because a
    name that depends on hidden inputs could leak them. `diagnosis` follows from all checks and is for the
    instructor. `judged_again` are the parts that were wrong and that the grader answered for, when the
    exercise was judged a second time.
    """

    name: str
    points: float
    max_points: float
    diagnosis: tuple[str, ...] = ()
    checks: tuple[CheckRecord, ...] = ()
    told: tuple[str, ...] = ()
    bonus: bool = False  # its points are on top of the homework's maximum
    judged_again: tuple[str, ...] = ()


@dataclass(frozen=True)
class SubmissionRecord:
    """One student's homework: `problem` says why it could not be run, `flags` what a person should review,
    `notes` gives further information.

    `source` is the SHA-256 of the submission. A second run finds out from `versions` and `conditions` which
    verdicts are still valid: `versions` are digests of everything in the homework that affects an exercise's
    verdicts, and `conditions` is everything else that affects verdicts. `seed` drew the hidden inputs.
    Students are shown none of these.
    """

    student: str
    points: float
    max_points: float
    status: Status
    problem: str = ""
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    exercises: tuple[ExerciseRecord, ...] = ()
    source: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)  # {"torch": "2.13.0", "limits": "…"}
    seed: int | None = None
    isolation: str = ""
    language: str = "en"  # of the notebook; all that is recorded is in English
    said: Mapping[str, str] = field(default_factory=dict)  # of that, what the student reads in translation


@dataclass(frozen=True)
class HomeworkRecord:
    """All submissions of one homework, with the isolation and the versions they were graded with."""

    homework: str
    submissions: tuple[SubmissionRecord, ...] = ()
    isolation: Mapping[str, str] = field(default_factory=dict)  # {"level": "bwrap", "reason": "…"}
    versions: Mapping[str, str] = field(default_factory=dict)
    graded_by_hand: Mapping[str, float] = field(default_factory=dict)  # question → points, not in the totals
    notes: tuple[str, ...] = ()  # about all these marks

    @property
    def max_points(self) -> float:
        return max((submission.max_points for submission in self.submissions), default=0.0)


Record = TypeVar("Record", SubmissionRecord, HomeworkRecord)


def is_unwritten(exercise: ExerciseRecord) -> bool:
    """Whether the student has left the exercise as it was released."""
    failed = [check for check in exercise.checks if check.result == "failed"]
    return bool(failed) and all("is not written yet" in check.message for check in failed)


class CannotWrite(OSError):
    """A file that cannot be written, as on a full disk; everything before it is kept."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(
            f"{path} cannot be written ({error.strerror}). "
            "What is finished is kept; run the same command again."
        )
        self.errno = error.errno


class RecordError(ValueError):
    """A record that cannot be read; the message names the file and what is wrong with it."""


def to_json(record: SubmissionRecord | HomeworkRecord) -> str:
    """A record as JSON, always in the same form; a homework's record has one line per submission."""
    if not isinstance(record, HomeworkRecord):
        return json.dumps(record, default=_fields) + "\n"
    lines = ",\n".join(json.dumps(submission, default=_fields) for submission in record.submissions)
    rest = {name: value for name, value in vars(record).items() if name not in ("homework", "submissions")}
    head = f'{{"homework": {json.dumps(record.homework)}, "submissions": [\n{lines}\n],\n'
    return head + json.dumps(rest, default=_fields)[1:] + "\n"


def _fields(record: object) -> dict:
    """The fields of a record; those about a translation, a bonus or a second judging only if there is one."""
    return {name: value for name, value in vars(record).items() if value not in LEFT_OUT.get(name, ())}


def submission_from(data: Mapping) -> SubmissionRecord:
    """The record from JSON data; raises KeyError or TypeError if a field is missing or unknown."""
    exercises = tuple(exercise_from(exercise) for exercise in data["exercises"])
    said = {name: tuple(data.get(name, ())) for name in ("flags", "notes")}
    return SubmissionRecord(**{**data, **said, "exercises": exercises})


def exercise_from(data: Mapping) -> ExerciseRecord:
    checks = tuple(CheckRecord(**check) for check in data["checks"])
    names = {field: tuple(data.get(field, ())) for field in ("diagnosis", "told", "judged_again")}
    return ExerciseRecord(**{**data, **names, "checks": checks})


def homework_from(data: Mapping) -> HomeworkRecord:
    submissions = tuple(submission_from(submission) for submission in data["submissions"])
    return HomeworkRecord(**{**data, "submissions": submissions, "notes": tuple(data.get("notes", ()))})


def write(path: Path, record: SubmissionRecord | HomeworkRecord) -> None:
    """Write all of it or nothing: no reader finds half a file, even after a crash."""
    write_text(path, to_json(record))


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step, by renaming a finished one; raises CannotWrite."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Like `write_text`, for bytes; mode: who may read and write the file."""
    try:
        _replace(path, content, mode)
    except OSError as error:
        raise CannotWrite(path, error) from error


def _replace(path: Path, content: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    begin, end = UNFINISHED
    handle, temporary = tempfile.mkstemp(prefix=begin, suffix=end, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def remove_left_over(folders: Iterable[Path]) -> None:
    """Remove unfinished files of a killed grader; a recent file may be another grader's work."""
    begin, end = UNFINISHED
    for path in (path for folder in folders for path in folder.glob(f"{begin}*{end}")):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > SECONDS_UNTIL_LEFT_OVER:
                path.unlink()


def read_submission(path: Path) -> SubmissionRecord:
    return _read(path, submission_from)


def read_homework(path: Path) -> HomeworkRecord:
    return _read(path, homework_from)


def _read(path: Path, build: Callable[[Mapping], Record]) -> Record:
    try:
        return build(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"{path} is not a record that this grader wrote ({error}). Restore it from a backup, or "
            "remove it: the next `autograder grade` makes it again."
        ) from error


@dataclass(frozen=True)
class RecordFolder:
    """The records of one homework, one file per student: `FOLDER/HOMEWORK/STUDENT.json`."""

    folder: Path
    homework: str

    @property
    def path(self) -> Path:
        return self.folder / self.homework

    def file(self, student: str) -> Path:
        """The path of a student's record; a name too long for a file is replaced by its digest."""
        fits = len(os.fsencode(student)) <= LONGEST_FILE_NAME
        return self.path / f"{student if fits else hashlib.sha256(student.encode()).hexdigest()}.json"

    def add(self, record: SubmissionRecord) -> None:
        """Save a record, in place of the student's earlier one."""
        write(self.file(record.student), record)

    def find(self, student: str) -> SubmissionRecord | None:
        """The record of one student; None if there is none, or none that can be read."""
        return _read_or_none(self.file(student))

    def all(self) -> list[SubmissionRecord]:
        """Every record that can be read, by student."""
        records = [_read_or_none(path) for path in self.path.glob("*.json")] if self.path.is_dir() else []
        return sorted((record for record in records if record), key=lambda record: record.student)


def _read_or_none(path: Path) -> SubmissionRecord | None:
    try:
        return read_submission(path)
    except (OSError, RecordError):
        return None


def most_points(exercises: Iterable[ExerciseRecord]) -> float:
    """The maximum of a homework with these exercises, to which a bonus adds nothing."""
    return sum(exercise.max_points for exercise in exercises if not exercise.bonus)


def priced(exercise: ExerciseRecord, homework: HomeworkSource) -> ExerciseRecord:
    """The same verdict with the points that its checks are worth now."""
    worth = {check.name: check.points for check in homework.checks}
    passed = [check.name for check in exercise.checks if check.result == "passed"]
    points = sum(worth[name] for name in passed)
    most = sum(worth[check.name] for check in exercise.checks)
    bonus = homework.exercise(exercise.name).bonus
    return replace(exercise, points=points, max_points=most, bonus=bonus)


def counted(record: SubmissionRecord, exercises: Mapping[str, ExerciseRecord]) -> SubmissionRecord:
    """The record with these verdicts and their sums."""
    return replace(
        record,
        points=sum(exercise.points for exercise in exercises.values()),
        max_points=most_points(exercises.values()),
        exercises=tuple(exercises.values()),
    )
