"""A full disk and a locked gradebook: a sentence, nothing lost, and the same command ends the work."""

import contextlib
import resource
import shutil
import sqlite3
import subprocess

import pytest
from grading import new_course
from interrupted import (
    FIRST,
    SECOND,
    assert_all_is_done,
    assert_nothing_is_wrong,
    at,
    hand_in_all,
    marks,
    records,
    start,
)

pytestmark = pytest.mark.usefixtures("one_warm_process")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class that is graded and has handed in something else since, and some who are new."""
    course = new_course(tmp_path_factory.mktemp("graded") / "course")
    hand_in_all(course, dict(list(FIRST.items())[:4]))
    assert_all_is_done(course, dict(list(FIRST.items())[:4]))
    hand_in_all(course, SECOND)
    return course


@pytest.fixture
def course(graded, tmp_path):
    return shutil.copytree(graded, tmp_path / "course")


def assert_it_is_said_and_can_be_done_later(course, grader, what, before, *more):
    """One clear sentence and exit status 2; earlier marks are there still."""
    status, said = grader.wait()
    assert status == 2, said
    assert "Traceback" not in said
    last = said.strip().splitlines()[-1]
    assert last.startswith("autograder grade: ")
    assert what in last
    assert last.endswith("What is finished is kept; run the same command again.")
    assert before.keys() <= marks(course).keys()
    assert before.keys() <= records(course).keys()
    assert_nothing_is_wrong(course, FIRST, SECOND, *more)


@pytest.mark.parametrize(
    ("room", "what"),
    [
        (500, "cannot be written (File too large)"),
        (4_000, "cannot be written (File too large)"),
        ("gradebook.db", "The gradebook cannot be used"),
    ],
    ids=["for no record", "for no notebook", "for no longer gradebook"],
)
def test_files_that_cannot_grow(course, room, what):
    """Of a full disk, this is what every user can try."""
    limit = room if isinstance(room, int) else (course / room).stat().st_size
    answers = [*FIRST.values()] * 5  # more than the gradebook's free pages hold
    hand_in_all(course, more := {f"new_{i}": answer for i, answer in enumerate(answers)})
    before = marks(course)
    grader = start(course, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert_it_is_said_and_can_be_done_later(course, grader, what, before, more)
    assert_all_is_done(course, SECOND | more)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes; only root may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", place], capture_output=True)
    if made.returncode != 0:
        pytest.skip(f"no disk can be made here: {made.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk, room):
    """Leave only so many bytes free; what takes the rest is removed by `make_room`."""
    with open(disk / "rest", "wb") as rest, contextlib.suppress(OSError):
        rest.write(bytes(4 << 20))
    with open(disk / "rest", "r+b") as rest:
        rest.truncate(max(0, rest.seek(0, 2) - room))


@pytest.mark.parametrize("room", [0, 8, 16, 32, 64], ids="{} kB free".format)
def test_a_disk_that_is_full(graded, small_disk, room):
    course = shutil.copytree(graded, small_disk / "course")
    before = marks(course)
    fill(small_disk, room << 10)
    assert_it_is_said_and_can_be_done_later(course, start(course), "cannot be ", before)
    (small_disk / "rest").unlink()
    assert_all_is_done(course, SECOND)


def test_a_gradebook_that_is_locked_from_the_start(course):
    before = marks(course)
    other = sqlite3.connect(course / "gradebook.db")
    other.execute("begin exclusive")
    status, said = start(course).wait()
    other.rollback()
    assert (status, "Traceback" in said) == (2, False), said
    assert "The gradebook cannot be used (database is locked)." in said
    assert marks(course) == before
    assert_all_is_done(course, SECOND)


def test_a_gradebook_that_is_locked_in_the_middle(course):
    """Somebody opens formgrader on another machine, say."""
    before, others = marks(course), []

    def lock():
        others.append(sqlite3.connect(course / "gradebook.db"))
        others[0].execute("begin exclusive")

    grader = start(course, at("marks are entered", 3, lock))
    assert_it_is_said_and_can_be_done_later(course, grader, "(database is locked)", before)
    assert sum(points == marks(course)[student] for student, points in before.items()) < len(before)
    assert_all_is_done(course, SECOND)
