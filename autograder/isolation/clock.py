"""How much processor time a submission's processes use, and how long they wait for a processor.

The kernel records for every thread how long it ran, and how long it was ready but had to wait, in
/proc/PID/task/TID/schedstat. Where it does not, waiting is counted like any other time.
https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat
"""

import bisect
import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from autograder.isolation.spent import Spent
from autograder.isolation.tree import Tree

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
STATE, OWN, OF_CHILDREN, BORN = 0, slice(11, 13), slice(13, 15), 19  # in /proc/PID/stat, after the name


class Reading(NamedTuple):
    """Totals at one moment of time.monotonic(), all in seconds."""

    at: float
    used: float = 0.0  # by the processors, for all processes together
    waited: float = 0.0  # while some thread was ready to run and could not

    def until(self, later: "Reading") -> Spent:
        return Spent(later.at - self.at, later.used - self.used, later.waited - self.waited)


class Thread(NamedTuple):
    """What the kernel reports about a thread: seconds that it ran and waited, and whether it is ready to run.

    The kernel reports a wait only when it has ended; `waits` is how long the present one has lasted so far.
    """

    ran: float = 0.0
    waited: float = 0.0
    is_ready: bool = False
    waits: float = 0.0

    def after(self, before: "Thread", passed: float) -> "Thread":
        """The same thread, which was last seen `passed` seconds ago."""
        is_still_waiting = self.is_ready and self.ran == before.ran
        return self._replace(waits=before.waits + passed if is_still_waiting else 0.0)


class Clock:
    """Samples the times of a submission's processes and keeps the readings."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self.threads: dict[tuple[int, int], Thread] = {}
        self.own: dict[tuple[int, int], float] = {}  # processor seconds of each living process
        self.gone = 0.0  # of those that have ended
        self.readings = [Reading(time.monotonic())]

    @property
    def last(self) -> Reading:
        return self.readings[-1]

    def look(self) -> Reading:
        """Take a reading."""
        before, now, pids = self.last, time.monotonic(), self.tree.pids()
        used = max(before.used, self.used([fields for fields in map(stat_of, pids) if fields]))
        waited = before.waited + self.waited(pids, now - before.at)
        self.readings.append(Reading(now, used, waited))
        return self.last

    def since(self, moment: float) -> Spent:
        """The time that has passed since a moment."""
        now = self.look()
        place = bisect.bisect(self.readings, moment, key=lambda reading: reading.at)
        return self.at(place, moment).until(now)

    def at(self, place: int, moment: float) -> Reading:
        """The interpolated reading at a moment, which lies just before the reading at this place."""
        if not 0 < place < len(self.readings):
            return self.readings[0] if place == 0 else self.last
        first, last = self.readings[place - 1 : place + 1]
        share = (moment - first.at) / (last.at - first.at)
        return Reading(*(a + share * (b - a) for a, b in zip(first, last, strict=True)))

    def used(self, processes: list[list[str]]) -> float:
        """Processor seconds of all processes so far: never too many; too few only for short-lived ones."""
        living = {(int(fields[-1]), int(fields[BORN])): seconds(fields[OWN]) for fields in processes}
        self.gone += sum(spent for process, spent in self.own.items() if process not in living)
        self.own = living
        inherited = sum(seconds(fields[OF_CHILDREN]) for fields in processes)
        reaped = sum(spent for _, spent in self.tree.ended.values())
        total = sum(living.values())
        return max(total + self.gone, total + inherited + reaped)

    def waited(self, pids: list[int], passed: float) -> float:
        """For how many of the seconds that passed some thread was ready but did not run.

        It includes corrections of earlier answers, by what has become known since.
        """
        before, self.threads = self.threads, {}
        waits = []
        for key, thread in threads_of(pids):
            last = before.get(key, Thread())
            now = self.threads[key] = thread.after(last, passed)
            waits.append(now.waited + now.waits - last.waited - last.waits)
        return max(waits, default=0.0)


def threads_of(pids: list[int]) -> Iterator[tuple[tuple[int, int], Thread]]:
    """Every thread, by the numbers of its process and its own."""
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError, ValueError):
                    ran, waited, _ = map(int, Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split())
                    if fields := stat_of(pid, f"task/{task}/"):  # it has not ended meanwhile
                        yield (pid, int(task)), Thread(ran / 1e9, waited / 1e9, fields[STATE] == "R")


def stat_of(pid: int, task: str = "") -> list[str]:
    """The fields of /proc/PID/stat after the name, and the PID; nothing if the process has ended."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/{task}stat").read_bytes()  # of which the process has chosen its name
        return [*text.rpartition(b")")[2].decode().split(), str(pid)]
    return []


def processor_seconds(pid: int) -> float:
    """The processor time that a process itself has used, in seconds; 0 where it is unknown."""
    return seconds(stat_of(pid)[OWN])


def seconds(ticks: list[str]) -> float:
    return sum(map(int, ticks)) * TICK_SECONDS
