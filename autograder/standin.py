"""The far end of a check's stand-ins: a student's code in its sandbox, started anew when it dies there."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from autograder.isolation import CellResult, Died, Fault, Handle, Limits, Named, Raised
from autograder.isolation.student import Student
from course.checks import NotWritten, Object, Reply, StudentError, Unreachable
from course.checks.errors import is_stub
from course.checks.link import called
from course.checks.plain import replaced
from course.checks.trace import Thing

MOST_DEATHS = 20  # of one submission's processes, before nothing more is tried


@dataclass(frozen=True)
class Cell:
    """A cell of the student's to run, and what tracebacks call it."""

    source: str
    name: str


@dataclass
class Sitting:
    """A student's code at work under one time budget: in a sandbox until it dies, then in the next one.

    `start` gives a fresh sandboxed process; `guarded` are the names that an exercise may forbid.
    """

    start: Callable[[], Student]
    limits: Limits
    guarded: Collection[str] = ()
    forbidden: Collection[str] = ()
    deaths: list[str] = field(default_factory=list)  # what happened, in the order it did

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.limits.submission_seconds
        self._done: list[Cell] = []
        self._student: Student | None = None

    def run(self, cell: Cell) -> CellResult:
        """Run a cell for the first time; one that kills its process is never run again."""
        try:
            result = self._living().run(cell.source, self._seconds(self.limits.cell_seconds), cell.name)
        except Died as death:
            return CellResult("", [], Fault("Died", f"this cell {self._buried(death)}"))
        except Unreachable as problem:
            return CellResult("", [], Fault("Died", str(problem)))
        self._done.append(cell)
        return result

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

    def ask(self, target: Any, method: str, args: tuple, kwargs: dict, *, seed: int, name: str) -> Any:
        """Put one request; raises Raised, or Unreachable with a sentence about the call and the limit."""
        student = self._living()
        try:
            seconds = self._seconds(self.limits.call_seconds)
            return student.ask(target, method, args, kwargs, gradients=True, seed=seed, seconds=seconds)
        except Died as death:
            raise Unreachable(f"`{name}` {self._buried(death)}.") from None

    def forbid(self, names: Collection[str]) -> None:
        """Let calls of exactly these names raise from now on, in this process and those to come."""
        changed, self.forbidden = set(names) != set(self.forbidden), names
        if changed and self._student is not None:
            self._guard(self._student)

    @property
    def generation(self) -> int:
        """How many processes have died; objects of an earlier one are gone."""
        return len(self.deaths)

    def close(self) -> None:
        if self._student is not None:
            self._student.kill()
            self._student = None

    def _living(self) -> Student:
        """The process at work; after a death a new one in which the same cells ran again."""
        if self._student is not None and self._student.death is not None:  # while a gradient was asked for
            self._buried(self._student.death)
        if self._student is None:
            if len(self.deaths) >= MOST_DEATHS:
                raise Unreachable(f"Not tried: the process running the code had died {MOST_DEATHS} times.")
            self._seconds(0)
            self._student = self._replayed(self._done)
        return self._student

    def _replayed(self, cells: Sequence[Cell]) -> Student:
        """A fresh process in which these cells ran; raises Unreachable where that cannot be had."""
        student = self.start()
        try:
            self._prepare(student, cells)
        except Died as death:
            self.deaths.append(death.sentence)
            raise Unreachable(f"Not tried: running the cells again {death.sentence}.") from None
        except BaseException:
            student.kill()
            raise
        return student

    def _prepare(self, student: Student, cells: Sequence[Cell]) -> None:
        """Stand before what may be forbidden, run the cells, and forbid what is forbidden now."""
        if self.guarded:
            student.guard(self.guarded)
            student.guard(())
        for cell in cells:
            student.run(cell.source, self._seconds(self.limits.cell_seconds), cell.name)
        if self.forbidden:
            student.guard(self.forbidden)

    def _guard(self, student: Student) -> None:
        try:
            student.guard(self.forbidden)
        except Died as death:
            self._buried(death)

    def _buried(self, death: Died) -> str:
        self.close()
        self.deaths.append(death.sentence)
        return death.sentence

    def _seconds(self, most: float) -> float:
        """The seconds left for one step; raises Unreachable when the budget of the submission is used up."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            total = self.limits.submission_seconds
            raise Unreachable(f"Not tried: the submission had used up its {total:g} s.")
        return min(most, left)


class RemoteLink:
    """course.checks' Link to a sitting; the objects it hands out are those of the process now at work."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting = sitting
        self._handles: list[tuple[int, Handle]] = []

    def request(
        self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int = 0
    ) -> Reply:
        """Call a method of the target; raises StudentError, NotWritten or Unreachable."""
        name = called(target, method)
        far = self._far_side(Thing(target) if isinstance(target, str) else target)
        far_args, far_kwargs = replaced((args, kwargs), (Thing, Object), self._far_side)
        try:
            reply = self._sitting.ask(
                far.name if isinstance(far, Named) else far,
                "__getattr__" if method == "__getattribute__" else method,
                far_args,
                far_kwargs,
                seed=seed,
                name=name,
            )
        except Raised as error:
            _raise_as_students(error.fault, name)
        changed = None if reply.changed is None else (tuple(reply.changed[0]), dict(reply.changed[1]))
        return Reply(*replaced((reply.value, changed), Handle, self._near_side))

    def _far_side(self, entry: Thing | Object) -> Named | Handle:
        if isinstance(entry, Thing):
            return Named(entry.name)
        generation, handle = self._handles[entry.index]
        if generation != self._sitting.generation:
            raise Unreachable(f"The object of class {entry.kind} is gone: its process ended.")
        return handle

    def _near_side(self, handle: Handle) -> Object:
        key = (self._sitting.generation, handle)
        if key not in self._handles:
            self._handles.append(key)
        return Object(self._handles.index(key), handle.type_name)


def _raise_as_students(fault: Fault, name: str) -> NoReturn:
    if is_stub(fault.class_name, fault.message, fault.text):
        raise NotWritten(fault.frames[-1].function if fault.frames else name) from None
    raise StudentError(
        fault.class_name, fault.message, fault.line, fault.text.strip(), fault.bases, name
    ) from None
