"""Time counts while a submission works or sleeps, and not while it waits for a processor."""

import contextlib
import os
import signal
import time
from dataclasses import replace

import pytest
from warm_levels import SMALL

from autograder.isolation import Died, clock
from autograder.isolation.clock import Clock, Reading, Thread
from autograder.isolation.deadline import Deadline
from autograder.isolation.results import TooLate
from autograder.isolation.spent import Spent
from autograder.isolation.tree import Descendants

BUSY_LOOPS = 3
WORK = """
import time
def work(seconds):
    begun = time.process_time()
    while time.process_time() < begun + seconds: pass
    return "done"
"""


@pytest.fixture
def starved(warm):
    """A student whose processor is shared by busy loops once it has started: starved(limits, first cell)."""
    allowed = os.sched_getaffinity(warm.process.pid)
    crowded = {min(allowed)}
    with contextlib.ExitStack() as ends:

        def start(limits, source=""):
            os.sched_setaffinity(warm.process.pid, crowded)  # what is forked from here on is there, too
            student = ends.enter_context(warm.student(limits=limits))
            student.run(source)
            os.sched_setaffinity(warm.process.pid, allowed)
            for _ in range(BUSY_LOOPS):
                ends.callback(end, busy_loop(crowded))
            return student

        yield start


def busy_loop(crowded):
    process = os.fork()
    if process == 0:
        os.setsid()  # a share of its own, as any other program's
        os.sched_setaffinity(0, crowded)
        while True:
            pass
    return process


def end(process):
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def test_a_call_that_only_had_to_wait_for_a_processor_is_not_ended(starved):
    limits = replace(SMALL, call_seconds=0.5, patience=400.0)
    student = starved(limits, WORK)
    begun = time.monotonic()
    assert student.request("work", "", [0.3]) == "done"
    assert time.monotonic() - begun > limits.call_seconds


@pytest.mark.parametrize("source", ["while True: pass", "import time\ntime.sleep(1000)"])
def test_a_call_that_does_not_end_is_ended_on_a_busy_machine_too(starved, source):
    student = starved(replace(SMALL, cell_seconds=0.5, patience=400.0))
    with pytest.raises(Died, match=r"did not finish within 0\.5 s"):
        student.run(source)


def test_one_that_keeps_itself_waiting_for_its_own_processes_is_ended(warm):
    crowd = "import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n        while True: pass\n"
    limits = replace(SMALL, cell_seconds=1.0, patience=400.0)
    with warm.student(limits=limits) as student, pytest.raises(Died, match="did not finish within 1 s"):
        student.run(crowd + "while True: pass")


def test_there_is_a_far_limit_however_busy_the_machine_is(starved):
    student = starved(replace(SMALL, cell_seconds=0.5, patience=2.0), WORK)
    with pytest.raises(TooLate) as late:
        student.run("work(1000)")
    assert late.value.waited > 0


def test_processor_time_of_processes_that_are_gone_still_counts():
    def work_in_a_child():
        child = os.fork()
        if child == 0:
            while time.process_time() < 0.3:
                pass
            os._exit(0)
        os.waitpid(child, 0)

    process = os.fork()
    if process == 0:
        work_in_a_child()
        time.sleep(60)
    watch = Clock(Only(process))
    try:
        while watch.look().used < 0.3:
            time.sleep(0.05)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    assert watch.since(0.0).used >= 0.3


class Only(Descendants):
    """One process, whoever started it."""

    def pids(self):
        with contextlib.suppress(OSError):
            os.kill(self.root, 0)
            return [self.root]
        return []


def test_a_wait_counts_when_it_is_over_and_while_it_lasts(monkeypatch):
    seen = [
        Thread(1.0, 2.0, is_ready=True),
        Thread(1.1, 2.1, is_ready=True),  # ran, and waits since
        Thread(1.1, 2.1, is_ready=True),
        Thread(1.1, 2.1, is_ready=True),
        Thread(1.2, 2.8, is_ready=False),  # all of that wait was 0.7 s
        Thread(1.2, 2.8, is_ready=False),  # asleep
    ]
    sleeper = Thread(5.0, 5.0)
    looks = iter([[((1, 1), thread), ((1, 2), sleeper)] for thread in seen])
    monkeypatch.setattr(clock, "threads_of", lambda pids: next(looks))
    watch = Clock(Only(os.getpid()))
    watch.threads = dict(next(looks))
    assert [watch.waited([], 0.25) for _ in seen[1:]] == pytest.approx([0.1, 0.25, 0.25, 0.2, 0.0])


def test_a_thread_that_ends_between_two_looks_at_it_is_left_out(monkeypatch):
    assert dict(clock.threads_of([os.getpid()]))
    monkeypatch.setattr(clock, "stat_of", lambda pid, task="": [])
    assert dict(clock.threads_of([os.getpid()])) == {}


def test_what_was_spent_since_a_moment_between_two_readings_is_divided():
    watch = Clock(Only(os.getpid()))
    watch.readings = [Reading(0.0), Reading(2.0, used=1.0, waited=0.5)]
    watch.look = lambda: watch.readings[-1]
    assert watch.since(1.0) == Spent(1.0, 0.5, 0.25)
    assert watch.since(-7.0) == Spent(2.0, 1.0, 0.5)
    assert watch.since(5.0) == Spent(0.0, 0.0, 0.0)


def test_time_that_counts_is_never_less_than_the_processors_worked():
    assert Spent(wall=10.0, used=0.5, waited=9.0).counted == 1.0
    assert Spent(wall=10.0, used=15.0, waited=9.0).counted == 15.0


def test_a_deadline_is_put_off_by_what_was_waited_and_no_further():
    asked = []

    def spent_since(moment):
        asked.append(moment)
        passed = time.monotonic() - moment
        return Spent(passed, 0.0, min(passed, 0.2))

    def wait_for(deadline):
        while True:
            time.sleep(deadline.remaining())

    deadline = Deadline(0.1, 1000.0, spent_since)
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        wait_for(deadline)
    assert time.monotonic() - begun >= 0.3
    assert set(asked) == {deadline.begun}
