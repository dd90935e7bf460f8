"""A claim goes on after a failure, so that what it asks later speaks for or against a known mistake, too."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from course.checks.trace import Trace


@dataclass
class Failure:
    """The first comparison in which a claim failed and from which it could go on."""

    trace: Trace
    problem: AssertionError | None = None
    n_events: int = 0  # what had been asked by then

    def keep(self, problem: AssertionError) -> None:
        """Remember a problem if it is the first."""
        if self.problem is None:
            self.problem, self.n_events = problem, len(self.trace.events)


_OF_THE_CLAIM: ContextVar[Failure | None] = ContextVar("failure", default=None)


@contextlib.contextmanager
def to_its_end(trace: Trace) -> Iterator[Failure]:
    """While a claim is examined: what `fail` is told, instead of an exception."""
    here = Failure(trace)
    token = _OF_THE_CLAIM.set(here)
    try:
        yield here
    finally:
        _OF_THE_CLAIM.reset(token)


def fail(problem: AssertionError, *, goes_on: bool) -> None:
    """A claim does not hold. It goes on only inside `to_its_end`, and if the answer has the expected form:
    what comes next in a claim may rely on that."""
    here = _OF_THE_CLAIM.get()
    if here is None or not goes_on:
        raise problem
    here.keep(problem)
