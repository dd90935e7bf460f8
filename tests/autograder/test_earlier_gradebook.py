"""A gradebook of an earlier nbgrader stays as it is until it is upgraded, and then holds every mark."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from grading import NAME, new_course, solved, submit
from nbgrader.api import Base, Gradebook
from sqlalchemy import create_engine

from autograder.cli import main
from autograder.grade import grade
from autograder.marks.database import lacking

pytestmark = pytest.mark.usefixtures("one_warm_process")
TWO_STEPS_BACK = "167914646830"  # in nbgrader/alembic/versions: of 0.6, before the two steps below
BROUGHT_SINCE = {"student": "lms_user_id", "assignment": "course_id"}


def as_it_was(path):
    """The same database without what nbgrader has added to it since."""
    with closing(sqlite3.connect(path)) as database:
        for table, column in BROUGHT_SINCE.items():
            names = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] != column]
            database.execute(f"CREATE TABLE before AS SELECT {', '.join(names)} FROM {table}")
            database.execute(f"DROP TABLE {table}")
            database.execute(f"ALTER TABLE before RENAME TO {table}")
        database.execute("DROP TABLE course")
        database.execute("UPDATE alembic_version SET version_num = ?", [TWO_STEPS_BACK])
        database.commit()


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course in which ada has points, and a mark by hand, in a gradebook of an earlier nbgrader."""
    course = new_course(tmp_path_factory.mktemp("earlier") / "course")
    submit(course, "ada", solved(course))
    grade(NAME, course / "submitted", root=course, jobs=1)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        mark = book.find_grade("why_smooth", NAME, NAME, "ada")
        mark.manual_score, mark.needs_manual_grade = 2, False
        book.db.commit()
    as_it_was(course / "gradebook.db")
    return course


COMMANDS = [
    ["term"],
    ["export", NAME, "csv"],
    ["backup", "kept.zip"],
    ["grade", NAME, "--submissions", "submitted", "--jobs", "1"],
]


def test_a_gradebook_of_an_earlier_nbgrader_is_not_touched_and_its_upgrade_is_named(
    course, capsys, monkeypatch
):
    monkeypatch.chdir(course)
    before = (course / "gradebook.db").read_bytes()
    for words in COMMANDS:
        assert main(words) == 2
        said = capsys.readouterr().err
        assert "it has no assignment.course_id, student.lms_user_id" in said
        assert "`nbgrader db upgrade`" in said
    assert (course / "gradebook.db").read_bytes() == before


def test_after_the_upgrade_every_mark_is_there_and_grading_goes_on(course, capsys, monkeypatch):
    monkeypatch.chdir(course)
    words = [sys.executable, "-m", "nbgrader", "db", "upgrade"]
    done = subprocess.run(words, cwd=course, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [*course.glob("gradebook.db.*")], "nbgrader keeps a copy"
    for words in COMMANDS:
        assert main(words) == 0
    out = capsys.readouterr().out
    assert "ada,85.7" in out  # 4 points for the checks, 2 of 3 by hand
    submit(course, "bo", solved(course))
    assert main(COMMANDS[-1]) == 0
    assert "bo" in capsys.readouterr().out


def test_a_gradebook_of_this_nbgrader_lacks_nothing_and_a_new_one_neither(tmp_path):
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    for _ in range(2):
        engine = create_engine(url)
        with engine.connect() as connection:
            assert lacking(connection, Base.metadata) == ""
        engine.dispose()
        with Gradebook(url):
            pass
