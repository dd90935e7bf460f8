"""A class that upgrades in mid-term keeps its marks, and is told what it must do first."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from grading import NAME, new_course, solved, submit
from nbgrader.api import Base, Gradebook
from sqlalchemy import create_engine

from autograder.cli import main
from autograder.grade import grade
from autograder.marks.backup import backup, gradebook_of, restore
from autograder.marks.database import lacking
from autograder.marks.exports.marks import marks_of
from autograder.marks.records import RecordFolder

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


EARLIER = Path(__file__).parent / "earlier_version"


@pytest.fixture
def upgraded(course_folder):
    """The course of today with the marks of an earlier version of this program."""
    shutil.copytree(EARLIER / "grades", course_folder / "grades")
    with closing(sqlite3.connect(course_folder / "gradebook.db")) as database:
        database.executescript((EARLIER / "gradebook.sql").read_text())
    return course_folder


def marks(root):
    return {
        mark.student: (mark.score, mark.max_points, mark.waits_for_a_person) for mark in marks_of(root, NAME)
    }


def test_marks_of_an_earlier_version_are_read_exported_and_kept(upgraded, tmp_path_factory, lay_out):
    expected = {"ada": (6, 7, False), "bo": (1, 7, True)}
    assert marks(upgraded) == expected
    records = RecordFolder(upgraded / "grades", NAME).all()
    assert {record.student: record.exercises[0].diagnosis for record in records} == {
        "ada": (),
        "bo": ("divides_by_all",),
    }
    file = tmp_path_factory.mktemp("kept") / "marks.zip"
    backup(upgraded, file, [gradebook_of(upgraded, None)])
    elsewhere = lay_out(tmp_path_factory.mktemp("elsewhere"))
    restore(elsewhere, file, [gradebook_of(elsewhere, None)])
    assert marks(elsewhere) == expected
    with Gradebook(f"sqlite:///{elsewhere / 'gradebook.db'}") as book:
        assert book.find_comment("why_smooth", NAME, NAME, "ada").manual_comment == "well said"


def test_a_homework_whose_cells_are_others_now_is_neither_graded_nor_released_and_no_mark_changes(
    upgraded, capsys
):
    before = marks(upgraded)
    release_elsewhere = ["release", NAME, "--root", str(upgraded)]
    assert main(release_elsewhere) == 2
    assert "nbgrader cannot add or remove cells then" in capsys.readouterr().err
    hand_in = submit(upgraded, "ada", "{}")
    assert main(["grade", NAME, "--submissions", str(hand_in.parents[2]), "--root", str(upgraded)]) == 2
    assert "has changed since its release" in capsys.readouterr().err
    assert marks(upgraded) == before


def test_settings_of_an_earlier_version_are_named_with_their_line(upgraded, capsys):
    path = upgraded / "nbgrader_config.py"
    path.write_text("c = get_config()\nfrom autograder.homework import CODE_STUB\n")
    assert main(["term", "--root", str(upgraded)]) == 2
    said = capsys.readouterr().err
    assert (
        f"{path}, line 2 cannot be used (ModuleNotFoundError: No module named 'autograder.homework')" in said
    )
