"""Which known mistakes an answer is: the recorded calls are put to the catalogue, within a time limit."""

from __future__ import annotations

import contextlib
import signal
import time
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

    traces: of all checks of one exercise; the sooner the failed ones come, the sooner it is done.
    """
    asked = [trace for trace in traces if trace.events]
    errors = {event.outcome.error for trace in asked for event in trace.events}
    if not asked or errors & {"Unreachable", "NotWritten"}:
        return ()
    if _answers_alike(asked, references, seconds):
        return ()
    return tuple(
        entry.name
        for entry in misconceptions
        if _answers_alike(asked, {**references, entry.of: entry.thing}, seconds)
    )


def _answers_alike(traces: Sequence[Trace], things: Mapping[str, Any], seconds: float) -> bool | None:
    """Whether these things answer every call as recorded; None where it takes too long or cannot be done."""
    try:
        with time_limit(seconds), contextlib.redirect_stdout(None):
            return all(matches([trace], [replay(trace, things)], []) for trace in traces)
    except (TooSlow, Exception):
        return None


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow inside after this many seconds; for the main thread only. Limits may be nested."""

    def ring(signal_number: int, frame: FrameType | None) -> None:
        raise TooSlow

    begun = time.monotonic()
    handler = signal.signal(signal.SIGALRM, ring)
    outer, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        left = max(outer - (time.monotonic() - begun), 0.001) if outer else 0.0
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, left)
