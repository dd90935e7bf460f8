"""One attempt at judging a submission, which also reports whether it was short of processor time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeGuard

from autograder.grading.forked import Lost
from autograder.grading.paper import Paper, mark
from autograder.grading.plan import Plan
from autograder.isolation import Warm
from autograder.isolation.results import TooLate
from autograder.isolation.student import Student

MUCH_WAITING = 0.1  # of the time limit of a request

Tried = dict[str, Any] | Lost  # the result of an attempt, as `Attempt` returns it


@dataclass
class Attempt:
    """Judges one submission after another, each with processes of its own.

    starts_ahead: the next process starts whenever one is taken, so that it is ready when it is needed.
    """

    plan: Plan
    level: str
    warm: Warm
    starts_ahead: bool = False
    ahead: Student | None = field(default=None, init=False)

    def __call__(self, paper: Paper) -> dict[str, Any]:
        """The result, and whether a request timed out that had to wait for a processor."""
        students: list[Student] = []

        def start() -> Student:
            students.append(self.taken() or self.warm.student())
            self.ahead = self.warm.student() if self.starts_ahead else None
            return students[-1]

        graded = mark(paper, self.plan, self.level, start).as_json()
        return {"graded": graded, "was_kept_waiting": any(map(was_kept_waiting, students))}

    def taken(self) -> Student | None:
        """The process that was started ahead, unless it has ended, as when memory runs out."""
        ready, self.ahead = self.ahead, None
        if ready is not None and ready.has_ended():
            ready.kill()
            return None
        return ready


def counts(tried: Tried) -> TypeGuard[dict[str, Any]]:
    """Whether an attempt made alongside others counts; one that does not is repeated alone."""
    return not isinstance(tried, Lost) and not tried["was_kept_waiting"]


def verdict(first: Tried, second: Tried) -> dict[str, Any] | Lost:
    """Which of two attempts counts: the second, which ran alone, unless it was lost."""
    tried = first if isinstance(second, Lost) else second
    return second if isinstance(tried, Lost) else tried["graded"]


def was_kept_waiting(student: Student) -> bool:
    """Whether a request timed out after waiting for a processor for much of its time."""
    death = student.death
    return isinstance(death, TooLate) and death.waited > MUCH_WAITING * death.seconds
