"""Which known mistakes an answer is: the recorded calls are put to the catalogue, within a time limit."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from autograder.catalogue import Misconception
from course.checks import Trace, matches, replay

SECONDS_PER_MISTAKE = 3.0


class TooSlow(BaseException):
    """A replay took longer than it may; no Exception, so that replayed code cannot catch it."""


def diagnosis(
    traces: Sequence[Trace],
    misconceptions: Sequence[Misconception],
    references: Mapping[str, Any],
    *,
    seconds: float = SECONDS_PER_MISTAKE,
) -> tuple[str, ...]:
    """The names of the misconceptions that answer every recorded call as the student did, wrongly.

    traces: of all checks of one exercise, passed and failed.
    """
    errors = {event.outcome.error for trace in traces for event in trace.events}
    if errors & {"Unreachable", "NotWritten"}:
        return ()
    right = _replayed(traces, references, seconds)
    if right is None:
        return ()
    return tuple(entry.name for entry in misconceptions if _is_it(entry, traces, right, references, seconds))


def _is_it(
    entry: Misconception,
    traces: Sequence[Trace],
    right: Sequence[Trace],
    references: Mapping[str, Any],
    seconds: float,
) -> bool:
    wrong = _replayed(traces, {**references, entry.of: entry.thing}, seconds)
    return wrong is not None and matches(traces, wrong, right)


def _replayed(traces: Sequence[Trace], things: Mapping[str, Any], seconds: float) -> list[Trace] | None:
    """The traces on other objects; None where that takes too long or cannot be done."""
    try:
        with time_limit(seconds), contextlib.redirect_stdout(None):
            return [replay(trace, things) for trace in traces]
    except (TooSlow, Exception):
        return None


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow inside after this many seconds; for the main thread only."""

    def ring(signal_number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
