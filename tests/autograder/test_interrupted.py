"""Whatever ends the grader in the middle, no finished mark is lost and none is wrong."""

import itertools
import os
import random
import shutil
import signal
import time

import pytest
from grading import new_course
from interrupted import (
    FIRST,
    SECOND,
    TAKEN,
    assert_all_is_done,
    assert_nothing_is_wrong,
    at,
    hand_in_all,
    is_there_process,
    kill_oneself,
    marks,
    records,
    spill,
    start,
)
from sqlalchemy import event
from sqlalchemy.engine import Engine

pytestmark = pytest.mark.usefixtures("one_warm_process")


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A class whose homework is there and not graded."""
    course = new_course(tmp_path_factory.mktemp("handed_in") / "course")
    hand_in_all(course, FIRST)
    return course


@pytest.fixture(scope="module")
def handed_in_again(handed_in, tmp_path_factory):
    """The same class, graded, after everybody has handed in something else."""
    course = shutil.copytree(handed_in, tmp_path_factory.mktemp("again") / "course")
    assert start(course).wait()[0] == 0
    hand_in_all(course, SECOND)
    return course


@pytest.fixture(scope="module")
def seconds_of_a_run(handed_in, tmp_path_factory):
    course = shutil.copytree(handed_in, tmp_path_factory.mktemp("timed") / "course")
    begun = time.monotonic()
    assert_all_is_done(course, FIRST)
    return time.monotonic() - begun


@pytest.fixture
def course(handed_in, tmp_path):
    return shutil.copytree(handed_in, tmp_path / "course")


@pytest.fixture
def course_again(handed_in_again, tmp_path):
    return shutil.copytree(handed_in_again, tmp_path / "again" / "course")


def seeds_of(course):
    return {student: record.seed for student, record in records(course).items()}


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(4, 10))]
)
def test_a_grader_killed_at_a_random_moment_loses_no_finished_mark(
    course, course_again, seconds_of_a_run, seed
):
    draw = random.Random(seed)
    place, answers, allowed = [(course, FIRST, (FIRST,)), (course_again, SECOND, (FIRST, SECOND))][seed % 2]
    grader = start(place)
    time.sleep(draw.uniform(0, seconds_of_a_run))
    seen = marks(place)
    time.sleep(draw.uniform(0, 0.1))
    grader.kill()
    assert_nothing_is_wrong(place, *allowed)
    after, kept = marks(place), seeds_of(place)
    assert seen.keys() <= after.keys()
    finished = {student for student in kept if after.get(student) == records(place)[student].points}
    assert_all_is_done(place, answers)
    if answers is FIRST:  # nobody who was finished is examined again, nor given other inputs
        assert {student: seeds_of(place)[student] for student in finished} == {
            student: kept[student] for student in finished
        }


@pytest.mark.parametrize(("is_again", "step"), TAKEN)
def test_a_grader_killed_just_before_a_step_writes_no_wrong_mark(course, course_again, step, is_again):
    place, answers, allowed = (
        (course_again, SECOND, (FIRST, SECOND)) if is_again else (course, FIRST, (FIRST,))
    )
    number = 1 if step.startswith("penalties") else 5
    status, said = start(place, at(step, number, kill_oneself)).wait()
    assert status == -signal.SIGKILL, said
    assert_nothing_is_wrong(place, *allowed)
    assert_all_is_done(place, answers)


def kill_at_commit(number):
    """A grader that dies with its pages in the file and its journal beside it, unfinished."""

    def spoil():
        spill()
        grader, calls = os.getpid(), itertools.count(1)

        def die(connection):
            if os.getpid() == grader and next(calls) == number:
                kill_oneself()

        event.listen(Engine, "commit", die)

    return spoil


def journals_of(course):
    return [path for path in course.glob("gradebook.db-*") if path.stat().st_size > 0]


@pytest.mark.parametrize("is_again", [False, True], ids=["first marks", "marks changed"])
def test_a_gradebook_whose_journal_was_left_behind_is_whole(course, course_again, is_again):
    place, answers, allowed = (
        (course_again, SECOND, (FIRST, SECOND)) if is_again else (course, FIRST, (FIRST,))
    )
    left = 0
    for number in range(1, 7):
        before = marks(place)
        status, said = start(place, kill_at_commit(number)).wait()
        if status == 0:
            break
        assert status == -signal.SIGKILL, said
        left += bool(journals_of(place))
        assert_nothing_is_wrong(place, *allowed)
        assert before.keys() <= marks(place).keys()
    assert left >= 2  # otherwise nothing was tried
    assert_all_is_done(place, answers)
    assert journals_of(place) == []


def judges_of(process):
    with open(f"/proc/{process}/task/{process}/children") as children:
        return [int(child) for child in children.read().split()]


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="processes are counted in /proc")
def test_no_judge_outlives_a_grader_that_is_killed(course):
    hang = "def moving_average(values, width):\n    while True: pass"
    hand_in_all(course, dict.fromkeys(FIRST, hang))
    grader = start(course)
    deadline = time.monotonic() + 30
    while not (judges := judges_of(grader.process)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert judges
    os.kill(grader.process, signal.SIGKILL)
    os.waitpid(grader.process, 0)
    os.close(grader.said)
    deadline = time.monotonic() + 1  # a hang takes more than one second
    while any(map(is_there_process, judges)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_there_process, judges))
