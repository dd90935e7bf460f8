"""At a worker's desk, too, what took too long beside others is tried once more, alone."""

import fcntl
import multiprocessing
import os
import signal
import time
from types import SimpleNamespace

import pytest
from grading import SHORT

pytest.importorskip("distributed")

from autograder.cluster import desk
from autograder.cluster.desk import Desk
from autograder.cluster.shared_lock import SharedLock

FORK = multiprocessing.get_context("fork")
AGAIN, ONCE = {"graded": "again", "was_kept_waiting": False}, {"graded": "once", "was_kept_waiting": False}
LATE = {"graded": "late", "was_kept_waiting": True}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """What a desk answers when its attempts end like this, one after the other."""

    def ask(*attempts):
        def attempt(paper):
            tries = len(list(tmp_path.glob("try*")))
            (tmp_path / f"try {tries}").touch()
            outcome = attempts[tries]
            return outcome() if callable(outcome) else outcome

        monkeypatch.setattr(desk, "Attempt", lambda plan, level, warm: attempt)
        plan, level = SimpleNamespace(limits=SHORT), SimpleNamespace(name="none")
        told = Desk(plan, level, None, SharedLock(tmp_path)).answer(None)
        assert len(list(tmp_path.glob("try*"))) == len(attempts)
        return told

    return ask


def test_what_ended_well_is_tried_once(answer):
    assert answer(ONCE) == {"graded": "once"}


def test_what_was_kept_waiting_is_tried_again_and_then_counts(answer):
    assert answer(LATE, AGAIN) == {"graded": "again"}


def test_what_is_late_a_second_time_counts_as_it_is(answer):
    assert answer(LATE, LATE) == {"graded": "late"}


def test_what_was_lost_is_tried_again(answer):
    assert answer(die, AGAIN) == {"graded": "again"}


def test_the_first_attempt_counts_where_the_second_is_lost(answer):
    assert answer(LATE, die) == {"graded": "late"}


def test_what_is_lost_twice_is_lost(answer):
    assert "SIGKILL" in answer(die, die)["lost"]["reason"]


def waits_at_the_entrance(enter):
    """Whether somebody holds the entrance, and so nobody else enters."""
    with enter.entrance.open("w") as entrance:
        try:
            fcntl.flock(entrance, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def at_work(lock, kind, events, number, may_leave):
    with getattr(lock, kind)():
        events.put(("in", number))
        may_leave.wait()
        events.put(("out", number))


@pytest.fixture
def enter(tmp_path):
    """Have a process take the lock: enter(kind, number) → the event that lets it leave."""
    with FORK.Manager() as manager:  # whose queue keeps the order in which several processes put
        processes, events, lock = [], manager.Queue(), SharedLock(tmp_path)

        def start(kind, number):
            may_leave = FORK.Event()
            processes.append(FORK.Process(target=at_work, args=(lock, kind, events, number, may_leave)))
            processes[-1].start()
            return may_leave

        start.next = lambda: events.get(timeout=30)
        start.nothing = events.empty
        start.entrance = tmp_path / "entrance"
        yield start
        for process in processes:
            process.kill()
            process.join()


def test_one_is_alone_and_nobody_overtakes_who_wants_to_be(enter):
    first, second = enter("together", 1), enter("together", 2)
    assert {enter.next(), enter.next()} == {("in", 1), ("in", 2)}  # beside each other
    alone = enter("alone", 3)
    while not waits_at_the_entrance(enter):
        time.sleep(0.01)
    later = enter("together", 4)
    first.set()
    assert enter.next() == ("out", 1)
    assert enter.nothing()
    second.set()
    assert [enter.next(), enter.next()] == [("out", 2), ("in", 3)]
    alone.set()
    assert [enter.next(), enter.next()] == [("out", 3), ("in", 4)]
    later.set()
    assert enter.next() == ("out", 4)
