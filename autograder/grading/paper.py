"""One submission as plain data, and the function that judges it, which is the same on every machine."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from autograder.grading.plan import Plan
from autograder.grading.submission import Graded, grade_submission, not_run, translated
from autograder.isolation.student import Student
from autograder.making.data_files import TooMuchData, data_files, side_by_side
from autograder.marks.records import ExerciseRecord, exercise_from
from autograder.submissions.collect import Found, Unreadable, read
from course.checks.request import random_numbers_kept, seed_everything

SEED_BITS = 64  # too many for hidden inputs to be found by trying seeds


@dataclass(frozen=True)
class Paper:
    """A submission, and the earlier verdicts that still hold; `seed` draws the hidden inputs."""

    student: str
    data: bytes | None  # None where there is nothing to read
    problem: str = ""  # and this says why
    flags: tuple[str, ...] = ()
    kept: Mapping[str, ExerciseRecord] = field(default_factory=dict)
    seed: int = 0
    files: Mapping[str, bytes] = field(default_factory=dict)  # handed in beside it

    @property
    def digest(self) -> str:
        """SHA-256 of what was handed in, or of the problem with it."""
        return _digest(self.data, self.problem, self.files)

    def as_bytes(self) -> bytes:
        """The form in which it is sent to another machine."""
        data = None if self.data is None else base64.b64encode(self.data).decode()
        files = {name: base64.b64encode(content).decode() for name, content in self.files.items()}
        return json.dumps({**vars(self), "data": data, "files": files}, default=vars).encode()

    @classmethod
    def from_bytes(cls, text: bytes | bytearray) -> Paper:
        """The inverse of `as_bytes`."""
        said = json.loads(text)
        data = None if said["data"] is None else base64.b64decode(said["data"])
        kept = {name: exercise_from(exercise) for name, exercise in said["kept"].items()}
        files = {name: base64.b64decode(content) for name, content in said["files"].items()}
        return cls(**{**said, "data": data, "flags": tuple(said["flags"]), "kept": kept, "files": files})


def paper_of(
    submission: Found, kept: Mapping[str, ExerciseRecord] | None = None, seed: int | None = None
) -> Paper:
    """Read what was handed in. seed: of an earlier judging; None draws a new one."""
    data, problem = _content(submission)
    files, flags = _files(submission)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    return Paper(submission.student, data, problem, submission.flags + flags, kept or {}, seed, files)


def digest_of(submission: Found) -> str:
    """The digest that this submission would have now."""
    return _digest(*_content(submission), _files(submission)[0])


def _content(submission: Found) -> tuple[bytes | None, str]:
    """The bytes that were handed in; or None, and what is wrong with them."""
    try:
        return (None if submission.path is None else read(submission.path)), submission.problem
    except Unreadable as reason:
        return None, reason.sentence


def _files(submission: Found) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The data files in the student's own folder; or none, and a flag that says why."""
    try:
        return data_files(submission.folder), ()
    except TooMuchData as problem:
        return {}, (f"The data files that were handed in are left out: {problem}",)


def _digest(data: bytes | None, problem: str, files: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256(problem.encode() if data is None else data)
    for name, content in sorted(files.items()):
        whole.update(f"\n{len(name)} {name} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def mark(paper: Paper, plan: Plan, level: str, start: Callable[[], Student]) -> Graded:
    """Judge one submission; `start` gives fresh sandboxed processes at this level of isolation.

    Each finds the data files of the student and of the course in its work directory.
    """
    if paper.data is None:
        graded = not_run(paper.student, paper.problem, plan)
    else:
        equipped = with_files(paper, plan, start)
        with random_numbers_kept():
            seed_everything(paper.seed)  # so that the verdict does not depend on earlier submissions
            graded = grade_submission(paper.student, paper.data, plan, equipped, paper.seed, paper.kept)
    flags = paper.flags + graded.record.flags
    language = plan.edition(graded.record.language).language
    record = replace(
        graded.record,
        flags=flags,
        source=paper.digest,
        conditions=plan.conditions,
        isolation=plan.isolation(level),
    )
    return replace(graded, record=translated(record, language))


def with_files(paper: Paper, plan: Plan, start: Callable[[], Student]) -> Callable[[], Student]:
    """The same start, of processes that find the data files of the student and of the course."""
    files = side_by_side(paper.files, plan.files)

    def equipped() -> Student:
        student = start()
        student.files = files
        return student

    return equipped
