"""Which known mistakes an answer is: the recorded calls are put to the catalogue, each for a limited time."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from autograder.catalogue import Misconception
from course.checks import Trace, matches, replay

SECONDS_PER_MISTAKE = 3.0  # of processor time, so that a busy machine finds the same names
SECONDS_TO_RING_AGAIN = 0.02
IMPORT_MACHINERY = "<frozen importlib."


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

    traces: of all checks of one exercise; the sooner the failed ones come, the sooner it is done. One in
    which a call went unanswered tells nothing, as where another exercise that it calls is not written.
    """
    asked = [trace for trace in traces if trace.events and not _is_cut_short(trace)]
    if not asked:
        return ()
    if _answers_alike(asked, references, seconds):
        return ()
    return tuple(
        entry.name
        for entry in misconceptions
        if _answers_alike(asked, {**references, entry.of: entry.thing}, seconds)
    )


def _is_cut_short(trace: Trace) -> bool:
    return any(event.outcome.kind in ("unreachable", "not_written") for event in trace.events)


def _answers_alike(traces: Sequence[Trace], things: Mapping[str, Any], seconds: float) -> bool | None:
    """Whether these things answer every call as recorded; None where it takes too long or cannot be done."""
    try:
        with time_limit(seconds), contextlib.redirect_stdout(None):
            return all(matches([trace], [replay(trace, things)], []) for trace in traces)
    except (TooSlow, Exception):
        return None


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow inside after this many seconds of processor time; for the main thread only.

    Limits may be nested. An import is never cut short, as half of it would stay behind: it is waited for.
    """

    def ring(signal_number: int, frame: FrameType | None) -> None:
        if is_importing(frame):
            signal.setitimer(signal.ITIMER_PROF, SECONDS_TO_RING_AGAIN)
        else:
            raise TooSlow

    begun = time.process_time()
    handler = signal.signal(signal.SIGPROF, ring)
    outer, _ = signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        left = max(outer - (time.process_time() - begun), 0.001) if outer else 0.0
        signal.signal(signal.SIGPROF, handler)
        signal.setitimer(signal.ITIMER_PROF, left)


def is_importing(frame: FrameType | None) -> bool:
    """Whether a frame is part of an import, at whatever depth."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(IMPORT_MACHINERY):
            return True
        frame = frame.f_back
    return False
