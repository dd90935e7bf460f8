"""One submission to be judged, as plain data, and its judging: the same function on whichever machine."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from autograder.collect import Found, Unreadable, read
from autograder.isolation.student import Student
from autograder.plan import Plan
from autograder.records import ExerciseRecord, exercise_from
from autograder.submission import Graded, grade_submission, not_run
from course.checks.link import seeded


@dataclass(frozen=True)
class Paper:
    """What a student handed in, and what of earlier verdicts still holds; `seed` draws the hidden inputs."""

    student: str
    data: bytes | None  # None where there is nothing to read
    problem: str = ""  # and this says why
    flags: tuple[str, ...] = ()
    kept: Mapping[str, ExerciseRecord] = field(default_factory=dict)
    seed: int = 0

    @property
    def digest(self) -> str:
        """SHA-256 of what was handed in, or of what is wrong with it."""
        return hashlib.sha256(self.problem.encode() if self.data is None else self.data).hexdigest()

    def as_bytes(self) -> bytes:
        """The paper as it is sent to another machine."""
        data = None if self.data is None else base64.b64encode(self.data).decode()
        return json.dumps({**vars(self), "data": data}, default=vars).encode()

    @classmethod
    def from_bytes(cls, text: bytes | bytearray) -> Paper:
        """The inverse of `as_bytes`."""
        said = json.loads(text)
        data = None if said["data"] is None else base64.b64decode(said["data"])
        kept = {name: exercise_from(exercise) for name, exercise in said["kept"].items()}
        return cls(**{**said, "data": data, "flags": tuple(said["flags"]), "kept": kept})


def paper_of(
    submission: Found, kept: Mapping[str, ExerciseRecord] | None = None, seed: int | None = None
) -> Paper:
    """Read what was handed in. seed: of an earlier judging; None draws a new one."""
    data, problem = None, submission.problem
    try:
        data = None if submission.path is None else read(submission.path)
    except Unreadable as reason:
        problem = str(reason)
    seed = secrets.randbits(32) if seed is None else seed
    return Paper(submission.student, data, problem, submission.flags, kept or {}, seed)


def mark(paper: Paper, plan: Plan, level: str, start: Callable[[], Student]) -> Graded:
    """Judge one submission; `start` gives fresh sandboxed processes at this level of isolation."""
    if paper.data is None:
        graded = not_run(paper.student, paper.problem, plan)
    else:
        with seeded(paper.seed):  # the global random numbers too: the verdict is no matter of who came before
            graded = grade_submission(paper.student, paper.data, plan, start, paper.seed, paper.kept)
    flags = paper.flags + graded.record.flags
    record = replace(graded.record, flags=flags, source=paper.digest, isolation=plan.isolation(level))
    return replace(graded, record=record)
