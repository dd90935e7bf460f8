"""The gradebook is written all or nothing, one student at a time, and read as nbgrader reads it."""

import shutil
import sqlite3

import pytest
from grading import NAME, new_course
from nbgrader.api import Comment, Gradebook

from autograder.marks import first_submission
from autograder.marks.database import GradebookUnavailable
from autograder.marks.gradebook import MarkBook
from autograder.source.released import NotReleased

POINTS = {
    "moving_average-check": 2,
    "moving_average-hidden": 2,
    "why_smooth": 3,
}
EARNED = {"moving_average-check": 1.0, "why_smooth": None}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return new_course(tmp_path_factory.mktemp("released") / "course")


@pytest.fixture
def course(released, tmp_path):
    return shutil.copytree(released, tmp_path / "course")


@pytest.fixture
def marks(course):
    with MarkBook(course, NAME) as marks:
        yield marks


def test_the_released_homework_is_recognised(marks):
    marks.require(POINTS)


@pytest.mark.parametrize("points", [{**POINTS, "moving_average-check": 5}, {**POINTS, "new": 1}, {}])
def test_another_version_of_the_homework_is_refused(marks, points):
    with pytest.raises(NotReleased, match=f"autograder release {NAME}"):
        marks.require(points)


def test_what_was_entered_is_read_back(marks):
    marks.write("ada", EARNED, {"moving_average": "No response."})
    assert marks.entered() == {"ada": {**EARNED, "moving_average-hidden": None}}


def test_nbgrader_reads_points_comments_and_time(marks, course):
    marks.write("ada", EARNED, {"moving_average": "A word."}, timestamp="2026-02-03 04:05:06 UTC")
    with Gradebook(f"sqlite:///{course}/gradebook.db", "language-models") as gradebook:
        submission = gradebook.find_submission(NAME, "ada")
        assert (submission.score, submission.max_score) == (1.0, 7.0)
        assert submission.timestamp.isoformat() == "2026-02-03T04:05:06"
        assert gradebook.find_comment("moving_average", NAME, NAME, "ada").comment == "A word."


def test_a_time_that_is_none_is_left_out(marks):
    marks.write("ada", EARNED, {}, timestamp="yesterday, I swear")
    assert "ada" in marks.entered()


class Torn(Exception):
    """What goes wrong in the middle of a student."""


@pytest.fixture
def in_the_middle(monkeypatch):
    """Do something when half of a student's rows are written: in_the_middle(act)."""
    insert = first_submission._insert_cells

    def arrange(act):
        def watched(session, table, *rest):
            if table is Comment:  # the marks are there already
                act()
            insert(session, table, *rest)

        monkeypatch.setattr(first_submission, "_insert_cells", watched)

    yield arrange
    monkeypatch.undo()


def test_an_error_in_the_middle_leaves_nothing_of_the_student(marks, course, in_the_middle, monkeypatch):
    def tear():
        raise Torn

    in_the_middle(tear)
    with pytest.raises(Torn):
        marks.write("ada", EARNED, {})
    with Gradebook(f"sqlite:///{course}/gradebook.db", "language-models") as other:
        assert not other.students
    monkeypatch.undo()
    marks.write("ada", EARNED, {})
    assert "ada" in marks.entered()


def test_nobody_else_sees_half_a_student(marks, course, in_the_middle):
    seen = []

    def look():
        with sqlite3.connect(course / "gradebook.db") as other:
            seen.append(other.execute("select count(*) from student").fetchone())

    in_the_middle(look)
    marks.write("ada", EARNED, {})
    assert seen == [(0,)]
    assert "ada" in marks.entered()


def test_a_student_is_written_with_nbgraders_session_as_it_is(marks, in_the_middle):
    session, seen = marks._gradebook.db, []
    before = dict(vars(session))
    in_the_middle(lambda: seen.append(dict(vars(session))))
    marks.write("ada", EARNED, {})
    assert seen == [before]


def test_points_by_hand_are_kept_and_looked_at_again_only_for_new_work(marks):
    marks.write("ada", {"moving_average-check": 0.0}, {})
    grade = marks._gradebook.find_grade("moving_average-check", NAME, NAME, "ada")
    grade.manual_score, grade.needs_manual_grade = 1.0, False
    marks._gradebook.db.commit()
    marks.write("ada", {"moving_average-check": 0.0}, {}, new_bytes=False)
    assert (grade.manual_score, grade.score, grade.needs_manual_grade) == (1.0, 1.0, False)
    marks.write("ada", {"moving_average-check": 0.0}, {}, new_bytes=True)
    assert (grade.score, grade.needs_manual_grade) == (1.0, True)


def test_a_locked_gradebook_is_said_to_be_locked(course):
    with MarkBook(course, NAME) as marks:
        marks.write("ada", EARNED, {})
        other = sqlite3.connect(course / "gradebook.db")
        other.execute("begin exclusive")
        with pytest.raises(GradebookUnavailable, match="database is locked"):
            marks.write("bob", EARNED, {})
        other.rollback()
        marks.write("bob", EARNED, {})
        assert set(marks.entered()) == {"ada", "bob"}
