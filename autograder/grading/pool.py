"""Judges on this machine, `jobs` at once, and one warm process for all of their students.

The warm process is started first, so that it gets ready while torch is imported here.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypedDict, TypeVar

from autograder.grading.capacity import capacity_here
from autograder.grading.forked import Lost, forked
from autograder.isolation import Level, Limits, Warm, choose
from autograder.isolation.limits import GIGABYTE

if TYPE_CHECKING:
    from autograder.grading.paper import Paper
    from autograder.grading.plan import Plan

MEMORY_OF_A_JUDGE = 3 * GIGABYTE  # beyond what it is born with
GRACE_SECONDS = 60.0  # for a judge, beyond what its submission may use


class JudgesUnavailable(RuntimeError):
    """Nobody can judge now, but may later; the message says why. What is finished is kept."""


class Task(Protocol):
    """A submission to be judged, read only when its turn comes."""

    def paper(self) -> Paper: ...


SomeTask = TypeVar("SomeTask", bound=Task)  # of one run, whose judges give back the very tasks they got


class LimitsOfAJudge(TypedDict):
    """What a judge may use, as `forked` takes it."""

    seconds: float  # of processor time
    patience: float
    memory_bytes: int


class Judges(Protocol):
    """What judges the submissions of one run, on this machine or on others."""

    @property
    def level(self) -> Level:
        """How student code is confined."""

    def judged(
        self,
        tasks: Sequence[SomeTask],
        plan: Plan,
        arriving: Callable[[], Iterable[SomeTask]] | None = None,
    ) -> Generator[tuple[SomeTask, dict | Lost], None, None]:
        """Yield each task with its `Graded.as_json`, as they finish; closing the iterator ends the others.

        arriving: returns the tasks that arrived since its last call.
        """


@dataclass(frozen=True)
class Pool:
    """Judges forked off this process, `jobs` at once."""

    level: Level
    warm: Callable[[], Warm]
    jobs: int

    def judged(
        self,
        tasks: Sequence[SomeTask],
        plan: Plan,
        arriving: Callable[[], Iterable[SomeTask]] | None = None,
    ) -> Generator[tuple[SomeTask, dict | Lost], None, None]:
        """Each task with its result; what every judge needs is prepared before the first is forked.

        A submission that was lost, or ran out of time after it had to wait for a processor, is judged again
        at the end, alone; that result counts.
        """
        from autograder.grading.attempt import Attempt, Tried, counts, verdict

        plan.prepare()
        gc.freeze()  # what a judge does not collect stays shared memory; so may a little garbage of imports
        others_follow = len(tasks) > self.jobs or arriving is not None
        is_spare = self.jobs < capacity_here().processors  # otherwise a start ahead keeps a judge waiting
        warm = self.warm()  # which has been starting meanwhile
        attempt = Attempt(plan, self.level.name, warm, starts_ahead=others_follow and is_spare)
        limits = limits_of_a_judge(plan.limits)
        are_together = min(self.jobs, len(tasks)) > 1 or (self.jobs > 1 and arriving is not None)
        again: list[tuple[SomeTask, Tried]] = []
        first_tries = forked(
            tasks, lambda task: attempt(task.paper()), jobs=self.jobs, arriving=arriving, **limits
        )
        for task, result in first_tries:
            if isinstance(result, Lost) or (are_together and not counts(result)):
                again.append((task, result))
            else:
                yield task, result["graded"]
        for (task, first), second in forked(again, lambda pair: attempt(pair[0].paper()), jobs=1, **limits):
            yield task, verdict(first, second)


@contextmanager
def local_judges(isolation: str, limits: Limits, jobs: int | None = None) -> Iterator[Pool]:
    """Judges on every core of this machine; raises IsolationUnavailable."""
    warm = Warm(lambda: choose(isolation), limits)
    with warm_meanwhile(warm) as wait:
        yield Pool(warm.level, wait, jobs or capacity_here().jobs(limits))


def seconds_for_a_judge(limits: Limits) -> float:
    """The processor time in seconds after which a judge is killed."""
    return limits.submission_seconds + GRACE_SECONDS


def limits_of_a_judge(limits: Limits) -> LimitsOfAJudge:
    """What a judge of submissions with these limits may use itself."""
    seconds = seconds_for_a_judge(limits)
    return {"seconds": seconds, "patience": limits.patience, "memory_bytes": MEMORY_OF_A_JUDGE}


@contextmanager
def warm_meanwhile(warm: Warm) -> Iterator[Callable[[], Warm]]:
    """Start a warm process while the caller prepares; yields a function that waits for it and returns it."""
    warm.start()
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(warm.__enter__)

        def wait() -> Warm:
            starting.result()
            pool.shutdown()  # no second thread may be left when judges are forked
            return warm

        try:
            yield wait
        finally:
            if not starting.done():
                warm.not_wanted()
            if starting.exception() is None:
                warm.close()
