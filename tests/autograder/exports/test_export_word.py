"""Answers that nobody has marked yet: exporting says whose, or writes nothing if that was asked for."""

import pytest
from grading import NAME
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.marks.settings import course_config


@pytest.fixture
def course(course_folder):
    """Ada's and bo's answers in words wait for a mark; cy's has one."""
    course_config(course_folder)  # finds the program with which nbgrader makes a database
    with Gradebook(f"sqlite:///{course_folder / 'gradebook.db'}") as book:
        book.add_assignment(NAME)
        book.add_notebook(NAME, NAME)
        book.add_grade_cell("why", NAME, NAME, max_score=7, cell_type="markdown")
        for student in ("ada", "bo", "cy"):
            book.add_student(student)
            book.add_submission(NAME, student)
            grade = book.find_grade("why", NAME, NAME, student)
            grade.manual_score, grade.needs_manual_grade = (5, False) if student == "cy" else (None, True)
        book.db.commit()
    return course_folder


@pytest.mark.parametrize(("asked", "status"), [("warn", 0), ("stop", 2)])
def test_unmarked_answers_are_named_and_stop_the_export_if_asked(asked, status, course, capsys):
    sheet = course / "marks.csv"
    words = ["export", NAME, "csv", "--to", str(sheet), "--unmarked", asked, "--root", str(course)]
    assert main(words) == status
    assert "ada, bo" in capsys.readouterr().err
    assert sheet.exists() is (asked == "warn")
