"""The remote side of a check's stand-ins: a student's code in its sandbox, restarted when it crashes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import InitVar, asdict, dataclass, field, replace
from functools import partial
from typing import Any, Protocol, cast

import torch

from autograder.isolation import CellResult, Died, Fault, Limits, Raised
from autograder.isolation.limits import in_words
from autograder.isolation.results import TooLate
from autograder.isolation.student import Student
from course.checks import NotWritten, Object, Reply, StudentError, Unreachable
from course.checks.autograd import Backward
from course.checks.errors import student_problem
from course.checks.link import called
from course.checks.plain import replaced
from course.language import say


class Budget:
    """The time of a submission: seconds without waiting for a processor, and a far limit on wall time."""

    def __init__(self, limits: Limits) -> None:
        self.total = limits.submission_seconds
        self.far = time.monotonic() + limits.patience * self.total
        self.entered = 0.0  # seconds of processes that have ended
        self.cuts_short = False  # whether the present step has less time than its own limit

    def seconds(self, most: float, student: Student | None) -> float | None:
        """The seconds for one step, of a living process if there is one; None if no time is left."""
        left = self.total - self.entered - (student.busy if student else 0.0)
        if left < most and student is not None:  # it may have waited for some of that time
            left = self.total - self.entered - student.counted()
        left = min(left, self.far - time.monotonic())
        self.cuts_short = left < most
        return min(most, left) if left > 0 else None

    def enter(self, student: Student) -> None:
        """Count the time of a process that has ended."""
        self.entered += student.counted()

    def ended(self, death: Died) -> bool:
        """Whether a process ended because the submission's time was used up, not by a limit of its own."""
        return self.cuts_short and isinstance(death, TooLate)

    def in_words(self, death: Died) -> str:
        """How a process ended, with the limit that really ended it."""
        if self.ended(death):
            return say(
                "did not finish before the submission had used up its {seconds:g} s", seconds=self.total
            )
        return death.sentence


class PartsOf(Protocol):
    """Answers calls of some functions and of some classes of modules in the student's place."""

    names: Collection[str]
    modules: Collection[str]

    def answer(self, message: Mapping[str, Any]) -> bytes:
        """A frame that answers one call; raises ValueError, KeyError or TypeError if it cannot."""


MOST_DEATHS = 20  # of one submission's processes, after which nothing more is tried


class NotTried(Unreachable):
    """No further request is made to the submission; the message, in the grader's words alone, says why."""


@dataclass(frozen=True)
class Cell:
    """A cell of the student's code, and its name in tracebacks."""

    source: str
    name: str


@dataclass
class Sitting:
    """An execution session of a student's code under one time budget; after a crash it gets a new sandbox.

    `start` gives a fresh sandboxed process; `guarded` are the names that an exercise may forbid.
    """

    start: Callable[[], Student]
    limits: Limits
    guarded: Collection[str] = ()
    forbidden: Collection[str] = ()
    parts: PartsOf | None = None  # right answers in place of the student's earlier parts
    trains: bool = False  # whether a call may train a model, and then take as long as a cell
    deaths: list[str] = field(default_factory=list)  # how processes ended, in order
    shared: InitVar[Budget | None] = None  # the budget of another sitting; None for one of its own
    budget: Budget = field(init=False)

    def __post_init__(self, shared: Budget | None) -> None:
        self.budget = shared or Budget(self.limits)
        self._done: list[Cell] = []
        self._student: Student | None = None
        self._told = 0  # bytes, by processes that have ended

    def run(self, cell: Cell) -> CellResult:
        """Run a cell for the first time; one that kills its process is never run again."""
        try:
            result = self._living().run(cell.source, self._seconds(self.limits.cell_seconds), cell.name)
        except Died as death:
            return CellResult(
                "", [], Fault("Died", say("this cell {ended}", ended=self._buried(death))), died=True
            )
        except Unreachable as problem:
            return CellResult("", [], Fault("Died", problem.what_happened), died=True)
        self._done.append(cell)
        return result

    def used(self) -> float:
        """The seconds counted so far, of all its processes together."""
        return self.budget.entered + (self._student.counted() if self._student else 0.0)

    def defined(self, names: Collection[str]) -> set[str]:
        """Those of the names that the cells have defined."""
        for _ in range(MOST_DEATHS):
            try:
                return self._living().defined(names)
            except Died as death:
                self._buried(death)
            except Unreachable:
                break
        return set()

    def ask(self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int) -> Reply:
        """Send a request; raises StudentError, NotWritten, or Unreachable with a sentence about the call."""
        name = called(target, method, args)
        student = self._living()
        ask = partial(student.ask, target, method, args, kwargs, gradients=torch.is_grad_enabled(), seed=seed)
        reply = self._answered(name, student, ask)
        if reply.backward is None:
            return reply
        return replace(reply, backward=self._way_back(name, student, reply.backward))

    def _way_back(self, name: str, student: Student, backward: Backward) -> Backward:
        def go_back(gradients: Sequence[torch.Tensor]) -> Sequence[torch.Tensor | None]:
            if student is not self._student or student.death is not None:
                raise Unreachable(say("What `{name}` returned is gone: its process ended.", name=name))
            return self._answered(name, student, partial(backward, gradients))

        return go_back

    def _answered(self, name: str, student: Student, ask: Callable) -> Any:
        """The answer of the student's process within the limits; its errors are raised as a check's."""
        limits = self.limits
        try:
            return ask(seconds=self._seconds(limits.cell_seconds if self.trains else limits.call_seconds))
        except Died as death:
            ended = self._buried(death)
            if self.budget.ended(death):
                raise NotTried(say("This {ended}.", ended=ended)) from None
            raise Unreachable(say("`{name}` {ended}.", name=name, ended=ended)) from None
        except Raised as error:
            raise _as_students(error.fault, name) from None

    def forbid(self, names: Collection[str]) -> None:
        """Make calls of exactly these names raise from now on, in this process and later ones."""
        changed, self.forbidden = set(names) != set(self.forbidden), names
        if changed and self._student is not None:
            self._guard(self._student)

    def take_over(self, other: Sitting) -> None:
        """Continue from another session: the cells that ran in it, and the names that are forbidden in it."""
        self._done, self.forbidden, self.trains = list(other._done), other.forbidden, other.trains

    @property
    def generation(self) -> int:
        """How many processes have ended; objects of an earlier one are gone."""
        return len(self.deaths)

    def close(self) -> None:
        if self._student is not None:
            self._student.kill()
            self._told += self._student.told
            self.budget.enter(self._student)
            self._student = None

    def _living(self) -> Student:
        """The process at work; after a crash, a new one in which the same cells have run again."""
        if self._student is not None and self._student.death is not None:
            self._buried(self._student.death)
        if self._student is None:
            if len(self.deaths) >= MOST_DEATHS:
                raise NotTried(
                    say("Not tried: the process running the code had ended {count} times.", count=MOST_DEATHS)
                )
            self._seconds(0)
            self._student = self._replayed(self._done)
        return self._student

    def _replayed(self, cells: Sequence[Cell]) -> Student:
        """A fresh process in which these cells have run; raises Unreachable if they cannot be run."""
        student = self.start()
        try:
            self._prepare(student, cells)
        except Died as death:
            self.budget.enter(student)
            self.deaths.append(death.sentence)
            raise Unreachable(
                say("Not tried: running the cells again {ended}.", ended=death.sentence)
            ) from None
        except BaseException:
            student.kill()
            raise
        return student

    def _prepare(self, student: Student, cells: Sequence[Cell]) -> None:
        """Guard every name that may be forbidden, run the cells, and forbid what is forbidden now."""
        if self.guarded:
            student.guard(self.guarded)
            student.guard(())
        for cell in cells:
            student.run(cell.source, self._seconds(self.limits.cell_seconds), cell.name)
        if self.parts is not None:
            student.substitute(self.parts.names, self.parts.modules, self.parts.answer)
        if self.forbidden:
            student.guard(self.forbidden)

    def _guard(self, student: Student) -> None:
        try:
            student.guard(self.forbidden)
        except Died as death:
            self._buried(death)

    def _buried(self, death: Died) -> str:
        """Record the end of the process, and return it as a sentence that names the limit."""
        self.close()
        self.deaths.append(self.budget.in_words(death))
        return self.deaths[-1]

    def _seconds(self, most: float) -> float:
        """The seconds left for one step; raises NotTried when a budget of the submission is used up."""
        if self._told + (self._student.told if self._student else 0) > self.limits.answers_bytes:
            most_told = in_words(self.limits.answers_bytes)
            raise NotTried(
                say(
                    "Not tried: the submission had used up its {size} for answers and output.", size=most_told
                )
            )
        if (seconds := self.budget.seconds(most, self._student)) is None:
            total = self.limits.submission_seconds
            raise NotTried(say("Not tried: the submission had used up its {seconds:g} s.", seconds=total))
        return seconds


class RemoteLink:
    """course.checks' Link to a session; its objects are those of the process now at work."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting = sitting
        self._handles: list[tuple[int, Object]] = []  # with the number of the process that each belongs to
        self._numbers: dict[tuple[int, Object], int] = {}

    def request(
        self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int = 0
    ) -> Reply:
        """Call a method of the target; raises StudentError, NotWritten or Unreachable."""
        if self._handles:  # otherwise nothing can refer to an object
            far = replaced((target, args, kwargs), Object, self._far_side)
            target, args, kwargs = cast("tuple[str | Object, tuple, dict]", far)
        reply = self._sitting.ask(target, method, args, kwargs, seed=seed)
        far = reply.value, reply.left
        near = replaced(far, Object, self._near_side)
        return reply if near is far else replace(reply, value=near[0], left=near[1])

    def _far_side(self, entry: Any) -> Object:
        generation, handle = self._handles[entry.index]
        if generation != self._sitting.generation:
            raise Unreachable(say("The object of class {kind} is gone: its process ended.", kind=entry.kind))
        return handle

    def _near_side(self, handle: Any) -> Object:
        key = self._sitting.generation, handle
        number = self._numbers.setdefault(key, len(self._handles))
        if number == len(self._handles):
            self._handles.append(key)
        return Object(number, handle.kind)


def _as_students(fault: Fault, name: str) -> StudentError | NotWritten:
    return student_problem(name, **asdict(fault))
