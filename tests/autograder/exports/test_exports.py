"""Marks in the formats of other places, each compared with a file that was looked at once."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from autograder.cli import main
from autograder.marks.exports import (
    Mark,
    canvas,
    github_classroom,
    gradescope_autograder,
    gradescope_results,
    moodle,
    nbgrader_csv,
)
from autograder.marks.exports.formats import FORMATS
from autograder.marks.exports.marks import ExportError
from autograder.marks.records import CheckRecord, ExerciseRecord, SubmissionRecord
from autograder.source.address import Address
from autograder.source.loading import load

GOLDEN = Path(__file__).parent / "golden"
MINI = Path(__file__).parents[1] / "mini_homework"
ROOT = Path(__file__).parents[3]

CANVAS_SHEET = """\
Student,ID,SIS User ID,SIS Login ID,Section,hw1 (9917),Final Score
    Points Possible,,,,,4.00,(read only)
"Lovelace, Ada",501,u17,ada,A,,
"Turing, Alan",502,u18,alan@example.org,A,1.0,
"Hopper, Grace",503,u19,grace,B,,
"""
MOODLE_SHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments
Participant 501,Ada Lovelace,ada@example.org,Submitted,,100.00,
Participant 502,Alan Turing,alan@example.org,Submitted,,100.00,old words
Participant 503,Grace Hopper,,No submission,,100.00,
"""


def mark(student, points, penalty=0.0, **more):
    fields = {"first_name": "", "last_name": "", "email": "", "due": "", "timestamp": ""} | more
    return Mark(student, points=points, penalty=penalty, max_points=8.0, waits_for_a_person=False, **fields)


MARKS = [
    mark("ada", 7.5, first_name="Ada", last_name="Lovelace, Countess", timestamp="2026-10-01 12:00:00"),
    mark("alan", 6.0, 1.0, first_name="=cmd()", email="Alan@example.org"),
    mark("grace", None),
]

RECORD = SubmissionRecord(
    "ada",
    2.0,
    4.0,
    "graded",
    flags=("The notebook was called work.ipynb.",),
    seconds=1.6,
    exercises=(
        ExerciseRecord(
            "moving_average",
            2.0,
            4.0,
            ("width_is_always_three",),
            (
                CheckRecord(
                    "there_is_one_average_per_window", False, "passed", "Seven values hold five windows."
                ),
                CheckRecord("averages_are_right", False, "passed", "It holds."),
                CheckRecord(
                    "averages_are_right_for_any_width", True, "failed", "the secret 4.25 was expected"
                ),
            ),
            told=("width_is_always_three",),
        ),
    ),
)


def golden(name, text):
    """Compare with the file; where there is none yet, write it and fail, so that a person looks at it."""
    path = GOLDEN / name
    if not path.exists():
        path.write_text(text)
        pytest.fail(f"{path} was written; look at it")
    assert text == path.read_text()


def test_nbgraders_own_columns():
    golden("nbgrader.csv", nbgrader_csv("hw1", MARKS))


def test_canvas_gets_its_own_sheet_back_with_one_column_filled_in():
    golden("canvas.csv", canvas("hw1", MARKS, CANVAS_SHEET))


def test_moodle_gets_its_own_worksheet_back_with_grades_and_comments():
    golden("moodle.csv", moodle(MARKS, MOODLE_SHEET, {"ada": "=looks like a formula"}))


def test_gradescope_results():
    golden("results.json", json.dumps(gradescope_results(RECORD, load(MINI)), indent=1) + "\n")


def test_github_classroom_workflow():
    text = github_classroom("hw1", Address("https://github.com/somebody/course", "v1.2.3"))
    golden("checks.yml", text)
    assert yaml.safe_load(text)["jobs"]["checks"]["steps"][-1]["run"] == "nbgrader validate hw1.ipynb"


def test_a_column_that_canvas_does_not_have_yet_is_added():
    made = canvas("hw9", MARKS, CANVAS_SHEET).splitlines()
    assert made[0].endswith(",Section,hw9")
    assert made[1].endswith(",8")


def test_a_mark_is_never_lost_in_silence():
    rows = CANVAS_SHEET.splitlines(keepends=True)
    with pytest.raises(ExportError, match="no row for: ada"):
        canvas("hw1", MARKS, "".join(row for row in rows if "Ada" not in row))
    with pytest.raises(ExportError, match="no row for: alan"):
        moodle(MARKS, "".join(row for row in MOODLE_SHEET.splitlines(keepends=True) if "Alan" not in row))


@pytest.mark.parametrize("sheet", ["", "Name,Points\nAda,3\n"])
def test_a_sheet_of_something_else_is_refused_with_its_columns(sheet):
    with pytest.raises(ExportError, match="no column Student, ID"):
        canvas("hw1", MARKS, sheet)


def test_what_a_hidden_check_says_stays_hidden():
    text = json.dumps(gradescope_results(RECORD, load(MINI)))
    assert "4.25" not in text
    assert "The width is taken to be three." in text
    [exercise] = RECORD.exercises
    by_hidden_inputs = replace(RECORD, exercises=(replace(exercise, told=()),), seconds=77.0)
    text = json.dumps(gradescope_results(by_hidden_inputs, load(MINI)))
    assert "The width is taken to be three." not in text
    assert "77" not in text


def test_what_could_not_be_run_says_why_and_has_no_tests():
    results = gradescope_results(
        SubmissionRecord("ada", 0.0, 4.0, "could_not_run", "It is no notebook."), load(MINI)
    )
    assert (results["score"], results["tests"]) == (0.0, [])
    assert "It is no notebook." in results["output"]


@pytest.fixture(scope="module")
def archive():
    return zipfile.ZipFile(io.BytesIO(gradescope_autograder(ROOT, "hw1_language_models")))


def test_the_autograder_for_gradescope_holds_this_grader_and_one_homework(archive):
    names = set(archive.namelist())
    assert {
        "setup.sh",
        "run_autograder",
        "pyproject.toml",
        "autograder/cli.py",
        "course/__init__.py",
    } <= names
    assert "solutions/hw1_language_models/misconceptions/perplexity.py" in names
    assert not [name for name in names if name.startswith("solutions/hw2") or "__pycache__" in name]


def test_gradescope_can_run_the_two_scripts(archive):
    for name in ("setup.sh", "run_autograder"):
        assert archive.getinfo(name).external_attr >> 16 == 0o755
        assert archive.read(name).startswith(b"#!/usr/bin/env bash\n")


def test_the_same_course_gives_the_same_archive():
    assert gradescope_autograder(ROOT, "hw1_language_models") == gradescope_autograder(
        ROOT, "hw1_language_models"
    )


def test_an_autograder_that_would_lack_the_grader_is_not_made(tmp_path):
    with pytest.raises(ExportError, match="no course, autograder, solutions/hw1_language_models"):
        gradescope_autograder(tmp_path, "hw1_language_models")


def test_the_command_offers_the_formats_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    offered = " ".join(capsys.readouterr().out.split())
    assert ", ".join(FORMATS) in offered
