"""What arrives in a watched folder is graded once it is whole, and a watcher that is killed loses nothing."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from unittest.mock import Mock

import pytest
from grading import NAME, RIGHT, SHORT, new_course, solved, submit
from interrupted import (
    FIRST,
    POINTS,
    SECOND,
    WRONG,
    assert_nothing_is_wrong,
    hand_in_all,
    marks,
    records,
)
from nbgrader.api import Gradebook

from autograder.grading.order import Order
from autograder.marks.database import GradebookUnavailable
from autograder.marks.decisions import Decisions
from autograder.marks.records import read_homework
from autograder.serving.rubrics import HandMark
from autograder.watching import watch
from autograder.watching.arrivals import Arrivals

MOST_SECONDS = 120.0


@contextmanager
def watcher(course):
    """`autograder watch` in a process of its own, which is killed at the end if it is still there."""
    words = [sys.executable, "-m", "autograder", "watch", str(course / "submitted"), "--root", str(course)]
    with (
        open(course / "watch.log", "ab") as log,
        subprocess.Popen([*words, "--jobs", "2"], stdout=log, stderr=log, start_new_session=True) as process,
    ):
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def wait_until(is_so, course, process=None):
    deadline = time.monotonic() + MOST_SECONDS
    while not is_so():
        log = (course / "watch.log").read_text()
        assert process is None or process.poll() is None, log
        assert time.monotonic() < deadline, log
        time.sleep(0.05)


def feedback(course, student):
    path = course / "submitted" / student / f"{NAME}.html"
    return path.read_text() if path.is_file() else ""


@pytest.fixture
def course(tmp_path):
    course = new_course(tmp_path / "course")
    (course / "submitted").mkdir()
    return course


def test_what_arrives_is_graded_when_it_is_whole_and_feedback_lies_beside_it(course):
    with watcher(course) as process:
        submit(course, "ada", solved(course, WRONG["width_is_always_three"]))
        wait_until(lambda: feedback(course, "ada"), course, process)
        assert "2 of 4" in feedback(course, "ada")
        path = submit(course, "bob", solved(course, RIGHT))
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        for _ in range(30):
            time.sleep(0.1)
            assert "bob" not in records(course)
        path.write_bytes(whole)
        wait_until(lambda: feedback(course, "bob"), course, process)
        assert records(course)["bob"].points == 4
        submit(course, "ada", solved(course, RIGHT))
        wait_until(lambda: records(course)["ada"].points == 4, course, process)
        wait_until(lambda: "4 of 4" in feedback(course, "ada"), course, process)
        wait_until(
            lambda: len(read_homework(course / "grades" / f"{NAME}.json").submissions) == 2, course, process
        )
    assert marks(course) == {"ada": 4, "bob": 4}
    assert [(one.student, one.before, one.value) for one in Decisions(course).all()] == [("ada", 2, 4)]


def test_a_watcher_that_is_killed_loses_nothing_and_counts_nothing_twice(course):
    hand_in_all(course, FIRST)
    with watcher(course) as process:
        wait_until(lambda: records(course), course, process)
        process.kill()
        process.wait()
    assert_nothing_is_wrong(course, FIRST)
    done = set(records(course))
    hand_in_all(course, SECOND)
    with watcher(course) as process:
        expected = {student: POINTS[answer] for student, answer in SECOND.items()}
        wait_until(lambda: marks(course) == expected, course, process)
        wait_until(lambda: all(feedback(course, student) for student in SECOND), course, process)
    assert {student: record.points for student, record in records(course).items()} == expected
    assert done
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        students = [one.student_id for one in gradebook.assignment_submissions(NAME)]
    assert sorted(students) == sorted(SECOND)


def test_a_student_who_leaves_no_place_for_the_feedback_stops_nobody(course):
    for student in ("ada", "zoe"):
        submit(course, student, solved(course, RIGHT))
    (course / "submitted" / "ada" / f"{NAME}.html" / "mine").mkdir(parents=True)
    with watcher(course) as process:
        wait_until(lambda: "4 of 4" in feedback(course, "zoe"), course, process)
        wait_until(lambda: set(records(course)) == {"ada", "zoe"}, course, process)
        assert process.poll() is None


def test_a_homework_that_is_released_later_is_graded_though_no_file_of_it_changed(course):
    """As in a fresh checkout, where homeworks/ is there and the gradebook is not."""
    submit(course, "ada", solved(course, RIGHT))
    (course / "gradebook.db").rename(course / "later.db")
    with watcher(course) as process:
        wait_until(lambda: "was never released" in (course / "watch.log").read_text(), course, process)
        (course / "later.db").rename(course / "gradebook.db")
        wait_until(lambda: feedback(course, "ada"), course, process)
        assert (course / "watch.log").read_text().count("was never released") == 1
    assert records(course)["ada"].points == 4


def test_an_inbox_that_is_away_for_a_moment_is_asked_for_everything_afterwards(course, monkeypatch):
    monkeypatch.setattr(watch, "SECONDS_UNTIL_ANOTHER_TRY", 0.0)
    said, inbox = [], Arrivals(course / "submitted")
    homework = watch.OpenHomework(Order(NAME, "best", SHORT), course, None, inbox, None, said.append)

    def away(name):
        raise GradebookUnavailable("The database is away.")

    monkeypatch.setattr(inbox, "arrived", away)
    assert homework.round(until=0.0) is False
    assert (said, homework.has_missed) == (["The database is away."], True)


def test_a_mark_that_was_given_by_hand_has_the_penalty_entered_anew(course, monkeypatch):
    inbox = Arrivals(course / "submitted")
    homework = watch.OpenHomework(Order(NAME, "best", SHORT), course, None, inbox, None, print)
    homework.clerk = Mock()
    homework.clerk.marks.mark_by_hand.return_value = None
    homework.clerk.marks.by_hand.return_value = {("mark by hand", "ada", "why_smooth"): 2.0}
    monkeypatch.setattr(homework, "is_ready", lambda: True)
    monkeypatch.setattr(inbox, "by_hand", lambda name: [HandMark("ada", "why_smooth", 2.0, "", "prof")])
    homework.enter_by_hand()
    homework.sum_up()
    assert homework.clerk.marks.enter_penalties.called
    [entry] = Decisions(course).all()  # it is not noticed again as one of Formgrader
    assert (entry.why, entry.is_noticed) == ("rubric, by prof", False)


def test_a_mark_of_formgrader_is_noticed_once_while_nothing_arrives(course):
    homework = watch.OpenHomework(
        Order(NAME, "best", SHORT), course, None, Arrivals(course / "submitted"), None, print
    )
    homework.clerk = Mock()
    for points in (2.0, 2.0, 1.0):
        homework.clerk.marks.by_hand.return_value = {("mark by hand", "ada", "why_smooth"): points}
        homework.hand_on_marks()
    homework.clerk.marks.by_hand.side_effect = GradebookUnavailable("It is away.")
    homework.hand_on_marks()
    log = Decisions(course).all()
    assert [(entry.before, entry.value, entry.is_noticed) for entry in log] == [
        (None, 2.0, True),
        (2.0, 1.0, True),
    ]


def test_marks_of_formgrader_are_handed_on_though_nothing_arrives(course, monkeypatch):
    monkeypatch.setattr(watch, "SECONDS_BETWEEN_LOOKS_AT_MARKS", 0.0)
    monkeypatch.setattr(watch, "marks_of", lambda *about: about)
    monkeypatch.setattr(watch, "shared_judges", lambda *about: nullcontext())
    inbox, looks = Arrivals(course / "submitted"), iter(range(3))
    monkeypatch.setattr(inbox, "marked", given := Mock())
    watch.watch(inbox, [NAME], course, has_ended=lambda: next(looks) == 2)
    assert given.call_count == 2
