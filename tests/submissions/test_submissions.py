"""What bad input gets: each file here is handed in, named after what is wrong with it, all in one batch.

The fair mark of most is 2 of 4: one exercise of two is broken, and the other still counts. What is odd and
not wrong costs nothing; what is told names the function or the cell, and the limit where there is one.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.grade import grade
from autograder.isolation import Limits
from autograder.sample.demo import make_course

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAME = "sums_and_gaps"
LIMITS = Limits(call_seconds=2, cell_seconds=2, submission_seconds=15, memory_bytes=1 << 30)

# student → the mark, and a piece of what a person is told
GRADED = {
    "reference": (4, ""),
    "another_kernel": (4, ""),
    "asks_for_input": (2, "`mean_of` raised EOFError"),
    "changed_check": (2, "Changed by the student and restored: 1 cell (mean_of-check)."),
    "changed_metadata": (2, "Cell tags dropped: raises-exception, skip-execution."),
    "changed_points": (2, "Points had been changed and were restored in 2 cells"),
    "duplicated_cells": (4, "More than one copy of 8 cells"),
    "eight_gigabytes": (2, "A submission may use 1 GB of memory."),
    "exception_at_import": (
        2,
        "`mean_of` is not defined: its cell stopped with ModuleNotFoundError: No module named ",
    ),
    "hundred_megabytes_of_printing": (4, ""),
    "import_of_a_file_left_at_home": (4, ""),
    "infinite_loop": (2, "`mean_of` did not finish within 2 s."),
    "infinite_loop_in_a_cell": (2, "`mean_of` is not defined: its cell did not finish within 2 s."),
    "loop_that_catches_everything": (2, "`mean_of` did not finish within 2 s."),
    "lost_metadata": (4, "The notebook has lost metadata (as after Colab)"),
    "missing_answer": (2, "Missing from the submission: 1 answer cell (mean_of)."),
    "missing_cells": (4, "Restored 2 check cells (mean_of-check, largest_gap-hidden)"),
    "os_exit": (2, "`mean_of` exited with status 0."),
    "renamed": (4, "The notebook was called sums_and_gaps (1).ipynb."),
    "segmentation_fault": (2, "`mean_of` crashed with a segmentation fault."),
    "slow_calls": (4, ""),
    "slow_cells_without_end": (0, "the submission had used up its 15 s"),
    "spinning_threads": (4, ""),
    "split_check": (4, ""),
    "syntax_error": (2, "SyntaxError: expected ':' (line 1: def mean_of(values))"),
    "sys_exit_in_a_cell": (2, "`mean_of` is not defined: its cell stopped with SystemExit: done"),
    "sys_exit_in_a_function": (2, "`mean_of` raised SystemExit: done"),
    "uninterruptible_call": (2, "`mean_of` did not finish within 2 s."),
    "warnings_on_stderr": (4, ""),
}
NOT_RUN = {
    "a_file_of_200_megabytes": "sums_and_gaps.ipynb has 200 MB; at most 20 MB are read.",
    "a_picture": "The file is not a notebook: it is not UTF-8 text (byte 0x89 at position 0).",
    "an_empty_directory": "The directory an_empty_directory/sums_and_gaps is empty.",
    "deeply_nested_json": "nested too deeply",
    "empty_file": "The file is empty.",
    "not_a_notebook": "The file is not a notebook: it does not hold JSON.",
    "not_utf8": "The file is not a notebook: it is not UTF-8 text",
    "truncated_json": "the file is incomplete.",
    "unknown_homework_name": "holds no directory sums_and_gaps; it holds: sums_and_gap.",
    "wrong_nbformat": "The file is in notebook format 5; only format 4 can be read.",
}
CLASS_SIZE = 200
# The rest of the class, before, between and after those above, all with the right answers.
HONEST = [f"{chr(ord('a') + i % 26)}_honest_{i}" for i in range(CLASS_SIZE - len(GRADED) - len(NOT_RUN))]


def as_handed_in(file, course):
    """The file here, with the set-up cell of today's release in the place of the one it was kept with."""
    return file.read_bytes().replace(
        set_up_of(HERE / "reference.ipynb"), set_up_of(course / "homeworks" / NAME / f"{NAME}.ipynb")
    )


def set_up_of(file):
    """The lines of the set-up cell, as they stand in the file."""
    return re.search(rb'"# Set-up: .*?\n   \]', file.read_bytes(), re.DOTALL)[0]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = tmp_path_factory.mktemp("bad_input") / "course"
    make_course(course, HERE / NAME, ROOT)
    submitted = course / "submitted"
    for file in HERE.glob("*.ipynb"):
        folder = submitted / file.stem / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_bytes(as_handed_in(file, course))
    renamed = submitted / "renamed" / NAME
    renamed.mkdir(parents=True)
    shutil.copy(submitted / "reference" / NAME / f"{NAME}.ipynb", renamed / f"{NAME} (1).ipynb")
    huge = submitted / "a_file_of_200_megabytes" / NAME
    huge.mkdir(parents=True)
    with open(huge / f"{NAME}.ipynb", "wb") as file:
        file.truncate(200_000_000)
    (submitted / "an_empty_directory" / NAME).mkdir(parents=True)
    (submitted / "unknown_homework_name" / "sums_and_gap").mkdir(parents=True)
    for student in HONEST:
        shutil.copytree(submitted / "reference", submitted / student)
    return course


@pytest.fixture(scope="module")
def graded(course):
    record = grade(NAME, course / "submitted", root=course, limits=LIMITS, jobs=2)
    return {submission.student: submission for submission in record.submissions}


def all_that_is_said(submission):
    checks = [check for exercise in submission.exercises for check in exercise.checks]
    return [submission.problem, *submission.flags, *(check.message for check in checks)]


def test_every_student_of_two_hundred_has_a_record(graded):
    assert len(graded) == CLASS_SIZE
    assert set(graded) == {*GRADED, *NOT_RUN, *HONEST}


def test_nobody_pays_for_what_others_handed_in(graded):
    assert {graded[student].points for student in HONEST} == {4}
    assert {graded[student].flags for student in HONEST} == {()}


@pytest.mark.parametrize("student", GRADED)
def test_the_mark_is_fair_and_the_reason_is_told(graded, student):
    points, sentence = GRADED[student]
    submission = graded[student]
    assert (submission.status, submission.points, submission.max_points) == ("graded", points, 4)
    assert any(sentence in said for said in all_that_is_said(submission)), all_that_is_said(submission)


@pytest.mark.parametrize("student", [name for name, (points, _) in GRADED.items() if points == 2])
def test_the_exercise_that_is_not_broken_counts_in_full(graded, student):
    assert [exercise.points for exercise in graded[student].exercises] == [0, 2]


@pytest.mark.parametrize("student", NOT_RUN)
def test_what_cannot_be_run_says_why_and_is_no_failure(graded, student):
    submission = graded[student]
    assert submission.status == "could_not_run"
    assert NOT_RUN[student] in submission.problem
    assert {check.result for exercise in submission.exercises for check in exercise.checks} == {
        "could_not_run"
    }


def test_nothing_is_lost_on_the_way_to_the_gradebook(course, graded):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        entered = {s.student.id: s.notebooks[0].code_score for s in gradebook.assignment_submissions(NAME)}
    handed_in = {name: s.points for name, s in graded.items() if name != "unknown_homework_name"}
    assert entered == handed_in


def test_a_hundred_megabytes_of_printing_leave_a_small_notebook(course, graded):
    path = course / "autograded" / "hundred_megabytes_of_printing" / NAME / f"{NAME}.ipynb"
    assert path.stat().st_size < 200_000
    assert "more characters" in json.dumps(json.loads(path.read_text()))


def test_what_was_handed_in_is_left_as_it_was(course, graded):
    for file in HERE.glob("*.ipynb"):
        handed_in = course / "submitted" / file.stem / NAME / f"{NAME}.ipynb"
        assert handed_in.read_bytes() == as_handed_in(file, course)
