"""A backup brings back every row and every record, into an empty gradebook and nowhere else."""

import json
import shutil
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader.api import Base, Gradebook
from sqlalchemy import select

from autograder.cli import main
from autograder.marks.backup import BackupError, gradebook_of
from autograder.marks.backup import backup as write_backup
from autograder.marks.backup import restore as put_back
from autograder.marks.settings import course_config


def gradebook(course, name="gradebook.db"):
    return Gradebook(f"sqlite:///{course / name}")


def backup(course, file):
    return write_backup(course, file, [gradebook_of(course, None)])


def restore(course, file, gradebook=None):
    return put_back(course, file, [gradebook_of(course, gradebook)])


@pytest.fixture(scope="module")
def marked(tmp_path_factory, lay_out):
    """A course with a mark by hand, a comment, a due date and an extension."""
    course_folder = lay_out(tmp_path_factory.mktemp("backup"))
    course_config(course_folder)  # finds the program with which nbgrader makes a database
    with gradebook(course_folder) as book:
        book.add_assignment("hw1", duedate="2026-11-20 12:00 UTC")
        book.add_notebook("hw1", "hw1")
        book.add_grade_cell("why", "hw1", "hw1", max_score=4, cell_type="markdown")
        book.add_solution_cell("why", "hw1", "hw1")
        book.add_student("ada", first_name="Ada")
        submission = book.add_submission("hw1", "ada")
        submission.extension = timedelta(days=2)
        book.find_grade("why", "hw1", "hw1", "ada").manual_score = 3
        book.find_comment("why", "hw1", "hw1", "ada").manual_comment = "Good: Zoë's idea."
        book.db.commit()
    (course_folder / "grades" / "hw1").mkdir(parents=True)
    (course_folder / "grades" / "hw1" / "ada.json").write_text(json.dumps({"student": "ada"}))
    return course_folder


@pytest.fixture
def course(marked, tmp_path):
    """A copy of it, to lose."""
    return Path(shutil.copytree(marked, tmp_path / "course"))


def rows(course, name="gradebook.db"):
    with gradebook(course, name) as book:
        return {
            table.name: sorted(map(repr, book.db.execute(select(table)).all()))
            for table in Base.metadata.sorted_tables
        }


def test_one_mark_is_not_called_marks(course, tmp_path, capsys):
    assert main(["backup", str(tmp_path / "marks.zip"), "--root", str(course)]) == 0
    assert "(1 student, 1 mark, and grades/)" in capsys.readouterr().out


def test_everything_comes_back(course, tmp_path):
    file = tmp_path / "marks.zip"
    backup(course, file)
    before = rows(course)  # with the course's own name, which whoever opens it enters
    (course / "gradebook.db").unlink()
    (course / "grades" / "hw1" / "ada.json").unlink()
    assert main(["restore", str(file), "--root", str(course)]) == 0
    assert rows(course) == before
    assert json.loads((course / "grades" / "hw1" / "ada.json").read_text()) == {"student": "ada"}
    with gradebook(course) as book:
        assert book.find_submission("hw1", "ada").score == 3
        assert book.find_submission("hw1", "ada").extension == timedelta(days=2)


def test_another_gradebook_can_take_it(course, tmp_path):
    backup(course, tmp_path / "marks.zip")
    restore(course, tmp_path / "marks.zip", f"sqlite:///{course / 'other.db'}")
    assert rows(course, "other.db") == rows(course)


def test_a_gradebook_with_students_and_other_records_are_never_written_over(course, tmp_path):
    backup(course, tmp_path / "marks.zip")
    before = rows(course)
    with pytest.raises(BackupError, match=r"already contains students \(1\)"):
        restore(course, tmp_path / "marks.zip")
    assert rows(course) == before
    (course / "gradebook.db").unlink()
    (course / "grades" / "hw1" / "ada.json").write_text("{}")
    with pytest.raises(BackupError, match="exists already and differs"):
        restore(course, tmp_path / "marks.zip")
    assert (course / "grades" / "hw1" / "ada.json").read_text() == "{}"


def test_a_backup_is_not_written_over_and_others_cannot_read_it(course, tmp_path):
    assert main(["backup", str(tmp_path / "marks.zip"), "--root", str(course)]) == 0
    assert (tmp_path / "marks.zip").stat().st_mode & 0o777 == 0o600
    with pytest.raises(BackupError, match="exists already"):
        backup(course, tmp_path / "marks.zip")


def test_what_is_no_backup_is_refused(course, tmp_path):
    (tmp_path / "a.zip").write_bytes(b"no zip")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("gradebook.db", b"no database at all, but long enough to be looked at " * 20)
    with pytest.raises(BackupError, match="is not a backup"):
        restore(course, tmp_path / "a.zip")
    with pytest.raises(BackupError, match="is damaged"):
        restore(course, tmp_path / "b.zip")
