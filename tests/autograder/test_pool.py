"""What other submissions may have cost a submission is tried again when nothing runs beside it."""

import os
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from autograder.grading import attempt, pool
from autograder.grading.forked import Lost
from autograder.grading.pool import Pool
from autograder.isolation import Died, Level, Limits
from autograder.isolation.results import TooLate

PLAN = SimpleNamespace(prepare=lambda: None, limits=Limits())


class Named(str):
    """A task whose submission is its name."""

    def paper(self):
        return str(self)


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """Judge tasks by a function of the task and the number of the try: judged(judge, tasks, jobs=…)."""

    def run(judge, tasks, jobs=2):
        def once(task):
            tries = len(list(tmp_path.glob(f"{task}.*"))) + 1
            (tmp_path / f"{task}.{tries}").touch()
            return judge(task, tries)

        monkeypatch.setattr(attempt, "Attempt", lambda plan, level, warm, starts_ahead: once)
        return list(Pool(Level("none", ""), nullcontext, jobs).judged([*map(Named, tasks)], PLAN))

    return run


def waiting_at_first(task, tries):
    return {"graded": f"{task}, try {tries}", "was_kept_waiting": task == "late" and tries == 1}


def test_what_was_late_and_had_to_wait_is_tried_once_more_at_the_end_and_the_second_counts(judged):
    done = judged(waiting_at_first, ["late", "a", "b", "c"])
    assert sorted(done[:-1]) == [(name, f"{name}, try 1") for name in "abc"]
    assert done[-1] == ("late", "late, try 2")


def test_it_is_tried_once_more_and_not_for_ever(judged):
    always = judged(lambda task, tries: {"graded": tries, "was_kept_waiting": True}, ["a", "b"])
    assert sorted(always) == [("a", 2), ("b", 2)]


@pytest.mark.parametrize(("tasks", "jobs"), [(["late"], 2), (["late", "a"], 1)])
def test_what_ran_alone_is_not_tried_again(judged, tasks, jobs):
    assert ("late", "late, try 1") in judged(waiting_at_first, tasks, jobs)


def test_second_tries_run_one_at_a_time(judged, tmp_path):
    def counting(task, tries):
        if tries == 2:
            (tmp_path / f"running {task}").touch()
            together = len(list(tmp_path.glob("running *")))
            (tmp_path / f"running {task}").unlink()
            return {"graded": together, "was_kept_waiting": False}
        return {"graded": 0, "was_kept_waiting": True}

    assert [together for _, together in judged(counting, ["a", "b", "c", "d"], jobs=4)] == [1] * 4


def test_a_judge_that_is_lost_is_replaced_once(judged):
    def ends_at_first(task, tries):
        if task == "always" or (task == "once" and tries == 1):
            os._exit(1)
        return {"graded": tries, "was_kept_waiting": False}

    done = dict(judged(ends_at_first, ["once", "always", "a"]))
    assert (done["a"], done["once"]) == (1, 2)
    assert isinstance(done["always"], Lost)


def test_a_verdict_is_kept_where_the_second_try_is_lost(judged):
    def lost_at_second(task, tries):
        if tries == 2:
            os._exit(1)
        return waiting_at_first(task, tries)

    assert ("late", "late, try 1") in judged(lost_at_second, ["late", "a"])


@pytest.mark.parametrize(
    ("death", "kept_waiting"),
    [
        (None, False),
        (Died("aborted"), False),
        (TooLate(10.0, waited=0.2), False),
        (TooLate(10.0, waited=4.0), True),
    ],
)
def test_who_was_kept_waiting(death, kept_waiting):
    assert attempt.was_kept_waiting(SimpleNamespace(death=death)) is kept_waiting


class Ready(SimpleNamespace):
    """A student's process that nothing was asked of."""

    def __init__(self, name, ended=False):
        super().__init__(name=name, death=None, killed=False)
        self.has_ended = lambda: ended

    def kill(self):
        self.killed = True


@pytest.mark.parametrize("ended", [False, True])
def test_a_process_that_has_ended_meanwhile_is_not_taken(monkeypatch, ended):
    ahead = Ready("ahead", ended)
    monkeypatch.setattr(
        attempt, "mark", lambda paper, plan, level, start: SimpleNamespace(as_json=lambda: start().name)
    )
    judge = attempt.Attempt(PLAN, "none", SimpleNamespace(student=lambda: Ready("fresh")), True)
    judge.ahead = ahead
    assert judge(None)["graded"] == ("fresh" if ended else "ahead")
    assert ahead.killed is ended


@pytest.mark.parametrize(
    ("starts_ahead", "ready"), [(False, [["one"], ["two"]]), (True, [["one", "two"], ["two", "three"]])]
)
def test_a_process_is_ready_when_the_next_submission_needs_it(monkeypatch, starts_ahead, ready):
    names = iter(["one", "two", "three"])
    living = []

    def student():
        living.append(next(names))
        return Ready(living[-1])

    def mark(paper, plan, level, start):
        taken = start()
        seen = [*living]  # while this submission is judged
        living.remove(taken.name)
        return SimpleNamespace(as_json=lambda: (taken.name, seen))

    monkeypatch.setattr(attempt, "mark", mark)
    judge = attempt.Attempt(PLAN, "none", SimpleNamespace(student=student), starts_ahead)
    assert [judge(None)["graded"] for _ in range(2)] == list(zip(["one", "two"], ready, strict=True))


@pytest.mark.parametrize(
    ("n_tasks", "jobs", "processors", "ahead"), [(3, 1, 2, True), (3, 2, 2, False), (1, 1, 2, False)]
)
def test_a_process_starts_ahead_where_others_follow_and_a_processor_is_spare(
    monkeypatch, n_tasks, jobs, processors, ahead
):
    found = []

    def made(plan, level, warm, starts_ahead):
        found.append(starts_ahead)
        return lambda task: {"graded": task, "was_kept_waiting": False}

    monkeypatch.setattr(attempt, "Attempt", made)
    monkeypatch.setattr(pool, "capacity_here", lambda: SimpleNamespace(processors=processors))
    tasks = [Named(number) for number in range(n_tasks)]
    assert len(list(Pool(Level("none", ""), nullcontext, jobs).judged(tasks, PLAN))) == n_tasks
    assert found == [ahead]
