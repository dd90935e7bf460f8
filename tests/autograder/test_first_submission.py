"""A first submission's rows are those that nbgrader itself would have made."""

from datetime import datetime

import pytest
from grading import NAME, new_course
from nbgrader.api import Comment, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook

from autograder.marks.first_submission import add_student, add_submission, released_assignment

WHEN = datetime(2026, 2, 3, 4, 5, 6)
KEYS = {"id", "notebook_id", "assignment_id", "student_id"}  # of the rows themselves, or of their owners


@pytest.fixture
def book(tmp_path):
    course = new_course(tmp_path / "course")
    with Gradebook(f"sqlite:///{course}/gradebook.db", "language-models") as book:
        yield book


def rows(book, student):
    """Every row there is about a student, without the keys that are drawn at random."""
    [submission] = book.db.query(SubmittedAssignment).filter_by(student_id=student).all()
    notebooks = book.db.query(SubmittedNotebook).filter_by(assignment_id=submission.id).all()
    owned = [
        row
        for notebook in notebooks
        for table in (Grade, Comment)
        for row in book.db.query(table).filter_by(notebook_id=notebook.id)
    ]
    person = [book.db.get(Student, student)]
    return sorted(map(str, map(columns, [*person, submission, *notebooks, *owned]))), len(owned)


def columns(row):
    named = {column.name: getattr(row, column.name) for column in row.__table__.columns}
    keys = {"id"} if isinstance(row, Student) else KEYS
    return type(row).__name__, {name: value for name, value in named.items() if name not in keys}


def with_a_task(book):
    """A cell that is both graded and commented, as nbgrader's manually graded tasks are."""
    book.add_task_cell("a_task", NAME, NAME, max_score=2, cell_type="markdown")


def test_the_rows_are_those_of_nbgrader(book):
    with_a_task(book)
    book.add_student("ada")
    with book.db.no_autoflush:  # nbgrader asks for cells while the submission is half made
        book.add_submission(NAME, "ada", timestamp=WHEN)
    add_student(book, "grace")
    add_submission(book, released_assignment(book, NAME), "grace", WHEN, {}, {})
    book.db.commit()
    (of_ada, n_cells), (of_grace, _) = rows(book, "ada"), rows(book, "grace")
    assert n_cells > 4
    assert of_ada == of_grace


def test_marks_and_words_arrive_in_their_cells_and_nowhere_else(book):
    released = released_assignment(book, NAME)
    keys = {name: key for key, name in released.notebooks[0].cells.items()}
    add_student(book, "grace")
    grades = {keys["moving_average-check"]: {"auto_score": 1.0, "needs_manual_grade": False}}
    comments = {keys["moving_average"]: {"auto_comment": "A word."}}
    add_submission(book, released, "grace", None, grades, comments)
    book.db.commit()
    notebook = book.find_submission_notebook(NAME, NAME, "grace")
    assert {grade.name: grade.auto_score for grade in notebook.grades if not grade.needs_manual_grade} == {
        "moving_average-check": 1.0
    }
    assert {comment.name: comment.comment for comment in notebook.comments if comment.comment} == {
        "moving_average": "A word."
    }


def test_a_student_who_is_there_keeps_their_name(book):
    book.add_student("ada", first_name="Ada")
    add_student(book, "ada")
    assert book.find_student("ada").first_name == "Ada"
