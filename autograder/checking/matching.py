"""Find the known mistakes that an answer matches, by replaying the recorded calls on the catalogue."""

from __future__ import annotations

import contextlib
import itertools
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType, MappingProxyType
from typing import Any

from autograder.catalogue import Misconception
from autograder.importing import is_importing
from course.checks import Trace, replay
from course.checks.closeness import same
from course.checks.diagnosis import answers_as, replays_alike
from course.checks.request import random_numbers_kept

SECONDS_PER_MISTAKE = 3.0  # processor time, so that a busy machine finds the same names
SECONDS_TO_RING_AGAIN = 0.02


REFERENCE = ""  # among the names of mistakes

# Mistake → check → the calls and answers of its own run of that check; the reference's, too.
Runs = Mapping[str, Mapping[str, Trace]]


class TooSlow(BaseException):
    """A replay took too long; not an Exception, so that replayed code cannot catch it."""


def diagnosis(
    traces: Sequence[Trace],
    misconceptions: Sequence[Misconception],
    references: Mapping[str, Any],
    *,
    is_wrong: bool = False,
    seconds: float = SECONDS_PER_MISTAKE,
    runs: Runs = MappingProxyType({}),
) -> tuple[str, ...]:
    """The names of the misconceptions that answer every recorded call as the student did, wrongly.

    traces: those of all checks of one exercise; with the failed ones first, the search ends sooner. A trace
    with an unanswered call is left out, for example if the check calls another exercise not yet written.
    is_wrong: whether another answer is known to be wrong, so that all of these may be right.
    runs: answers of some of them that are already known, so these calls are not replayed.
    """
    asked = [trace for trace in traces if trace.events and not _is_cut_short(trace)]
    with random_numbers_kept():
        right = _replayed(asked, references, runs.get(REFERENCE, {}), seconds)
        if not (is_wrong or _has_chance(asked)) and answers_as(asked, right, right):
            return ()
        right = right or [Trace(trace.check) for trace in asked]
        return tuple(
            entry.name
            for entry in misconceptions
            if _answers_alike(
                asked, {**references, entry.of: entry.thing}, right, runs.get(entry.name, {}), seconds
            )
        )


def _has_chance(traces: Sequence[Trace]) -> bool:
    """Whether an answer by chance, which is not compared, may be what is wrong."""
    return any(event.by_chance for trace in traces for event in trace.events)


def _is_cut_short(trace: Trace) -> bool:
    return any(event.outcome.kind in ("unreachable", "not_written") for event in trace.events)


def _replayed(
    traces: Sequence[Trace], things: Mapping[str, Any], own: Mapping[str, Trace], seconds: float
) -> list[Trace]:
    """The same calls, made on these functions and classes; [] if that takes too long or fails."""
    try:
        with time_limit(seconds), contextlib.redirect_stdout(None):
            return [known_answers(trace, own.get(trace.check)) or replay(trace, things) for trace in traces]
    except (TooSlow, Exception):
        return []


def _answers_alike(
    traces: Sequence[Trace],
    things: Mapping[str, Any],
    right: Sequence[Trace],
    own: Mapping[str, Trace],
    seconds: float,
) -> bool:
    """Whether these functions and classes answer every call as recorded; False if that takes too long."""
    pairs = [*zip(traces, right, strict=True)]
    if any(_differs(trace, own.get(trace.check), known) for trace, known in pairs):
        return False
    try:
        with time_limit(seconds), contextlib.redirect_stdout(None):
            return all(
                known_answers(trace, own.get(trace.check)) is not None or replays_alike(trace, things, known)
                for trace, known in pairs
            )
    except (TooSlow, Exception):
        return False


def known_answers(trace: Trace, own: Trace | None) -> Trace | None:
    """The answers to a trace's calls that a run has given already; None unless it was asked all of them."""
    if own is None or in_common(trace, own) < len(trace.events):
        return None
    return _beginning(own, len(trace.events))


def _differs(trace: Trace, own: Trace | None, right: Trace) -> bool:
    """Whether a run is known to answer one of the calls that both were asked otherwise."""
    n = in_common(trace, own) if own is not None else 0
    return own is not None and not answers_as([_beginning(trace, n)], [_beginning(own, n)], [right])


def in_common(one: Trace, other: Trace) -> int:
    """How many calls two runs of a check have in common before the first in which they differ."""
    calls = ([(e.target, e.method, e.args, e.kwargs) for e in trace.events] for trace in (one, other))
    return sum(1 for _ in itertools.takewhile(lambda pair: same(*pair), zip(*calls, strict=False)))


def _beginning(trace: Trace, n: int) -> Trace:
    return Trace(trace.check, trace.events[:n])


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow inside after this many seconds of processor time; for the main thread only.

    Limits may be nested. An import always runs to its end, because an interrupted one leaves half a module.
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
