"""Tasks run at the same time in processes of their own; what happens to one happens to it alone."""

import os
import time

from autograder.grading.forked import Lost, forked


def test_every_task_delivers_what_its_work_returned():
    done = dict(forked(range(20), lambda number: number * number, jobs=3, seconds=30))
    assert done == {number: number * number for number in range(20)}


def test_tasks_run_at_the_same_time_and_never_more_than_the_jobs(tmp_path):
    def work(task):
        (tmp_path / str(task)).touch()
        time.sleep(0.05)
        together = len(list(tmp_path.iterdir()))
        (tmp_path / str(task)).unlink()
        return together

    together = [count for _, count in forked(range(12), work, jobs=3, seconds=30)]
    assert max(together) <= 3
    assert max(together) > 1


def test_a_crash_an_error_and_a_hang_cost_one_task_each():
    def work(task):
        if task == "killed":
            os.kill(os.getpid(), 9)
        if task == "leaves":
            os._exit(3)
        if task == "hangs":
            time.sleep(60)
        return task

    done = dict(forked(["killed", "leaves", "hangs", "fine"], work, jobs=4, seconds=1, patience=3))
    assert done["fine"] == "fine"
    assert done["killed"].reason.startswith("was ended by SIGKILL")
    assert done["leaves"].reason.startswith("stopped with an error")
    assert done["hangs"] == Lost("did not finish in time")


def test_seconds_are_those_of_the_processor_up_to_a_far_limit():
    def work(task):
        if task == "sleeps":
            time.sleep(0.6)
        elif task == "works":
            while True:
                pass
        return task

    done = dict(forked(["sleeps", "works"], work, jobs=2, seconds=0.3, patience=1000))
    assert done == {"sleeps": "sleeps", "works": Lost("did not finish in time")}


def test_a_process_has_its_time_for_every_task_anew():
    def work(task):
        begun = time.process_time()
        while time.process_time() < begun + 0.2:
            pass
        return os.getpid()

    done = dict(forked(range(5), work, jobs=1, seconds=0.5))
    assert len(set(done.values())) == 1
    assert not any(isinstance(result, Lost) for result in done.values())


def test_a_task_that_takes_too_much_memory_is_lost_on_its_own_account():
    def work(task):
        return len(bytearray(task << 20))

    done = dict(forked([1, 900, 2], work, jobs=1, seconds=30, memory_bytes=600 << 20))
    assert (done[1], done[2]) == (1 << 20, 2 << 20)
    assert done[900] == Lost("used more than 600 MB of memory", is_of_the_task=True)
    assert done[900].sentence == (
        "This submission could not be judged: the process that judged it used more than 600 MB of memory."
    )


def test_a_result_that_is_too_large_is_refused_on_its_own_account():
    done = dict(forked([1, 65], lambda task: "x" * (task << 20), jobs=1, seconds=30))
    assert len(done[1]) == 1 << 20
    assert done[65] == Lost("made a record of more than 64 MB", is_of_the_task=True)


def test_long_results_arrive_whole():
    [(_, text)] = forked(["x"], lambda task: task * 3_000_000, jobs=1, seconds=30)
    assert text == "x" * 3_000_000


def test_closing_early_leaves_no_process_behind():
    before = children()  # other tests in this process keep a warm sandbox
    running = forked(range(4), lambda task: time.sleep(0.01 if task == 0 else 60), jobs=4, seconds=90)
    next(running)
    assert children() - before
    running.close()
    assert not children() - before


def children() -> set[str]:
    """The processes that this one has started and not yet reaped."""
    with open(f"/proc/self/task/{os.getpid()}/children") as listing:
        return set(listing.read().split())


def test_a_process_does_one_task_after_another_and_a_new_one_takes_the_place_of_a_lost_one():
    def work(task):
        if task == "killed":
            os.kill(os.getpid(), 9)
        return os.getpid()

    done = dict(forked(["a", "b", "killed", "c", "d"], work, jobs=1, seconds=30))
    assert done["a"] == done["b"] != done["c"] == done["d"]
    assert done["killed"].reason.startswith("was ended by SIGKILL, as the system does where memory runs out")


def test_what_was_finished_in_time_is_not_lost_because_it_is_fetched_late():
    done = []
    for task, result in forked(range(3), lambda task: task, jobs=3, seconds=0.5):
        done.append((task, result))
        time.sleep(0.7)
    assert sorted(done) == [(0, 0), (1, 1), (2, 2)]


def test_a_process_that_has_done_its_share_is_replaced():
    processes = [process for _, process in forked(range(50), lambda task: os.getpid(), jobs=1, seconds=30)]
    assert [processes.count(process) for process in dict.fromkeys(processes)] == [20, 20, 10]


def test_what_arrives_meanwhile_is_begun_beside_what_hangs():
    """It would otherwise have to wait for the one that takes ten times as long."""
    begun, more = time.monotonic(), iter([["new"], ["newer"]])

    def work(task):
        time.sleep(3 if task == "hangs" else 0.05)
        return task

    done = [
        (task, time.monotonic() - begun)
        for task, _ in forked(["hangs"], work, jobs=2, seconds=30, arriving=lambda: next(more, ()))
    ]
    assert [task for task, _ in done] == ["new", "newer", "hangs"]
    assert dict(done)["newer"] < 2
