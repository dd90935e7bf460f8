"""A claim goes on after a failure, so that what it asks later speaks for or against a known mistake, too."""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from course.checks.trace import Trace


@dataclass
class Failure:
    """The first comparison in which a claim failed and from which it could go on."""

    trace: Trace
    patience: float | None = None  # seconds for which the claim may go on; None is without limit
    problem: AssertionError | None = None
    n_events: int = 0  # what had been asked by then
    since: float = 0.0
    is_cut: bool = False  # whether the claim was ended before its end

    def keep(self, problem: AssertionError) -> None:
        """Remember a problem if it is the first."""
        if self.problem is None:
            self.problem, self.n_events = problem, len(self.trace.events)
            self.since = time.monotonic()


_OF_THE_CLAIM: ContextVar[Failure | None] = ContextVar("failure", default=None)


class TakesTooLong(Exception):
    """A claim that has failed is not asked further: it took longer than the patience allows."""


@contextlib.contextmanager
def to_its_end(trace: Trace, patience: float | None = None) -> Iterator[Failure]:
    """While a claim is examined: what `fail` is told, instead of an exception.

    patience: for how many seconds the claim may go on after that; `ask_on` raises when they are over.
    """
    here = Failure(trace, patience)
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


def has_failed() -> bool:
    """Whether the claim being examined goes on after a failure; what fails now will not be said."""
    here = _OF_THE_CLAIM.get()
    return here is not None and here.problem is not None


def ask_on() -> None:
    """Called before each request; raises TakesTooLong where a failed claim has gone on for long enough."""
    here = _OF_THE_CLAIM.get()
    if here is None or here.problem is None or here.patience is None:
        return
    if time.monotonic() - here.since > here.patience:
        here.is_cut = True
        raise TakesTooLong
