"""Marks in the formats of other places, each compared with a file that was looked at once."""

import csv
import io
import json
import os
import shlex
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from autograder.cli import VERBS, main, parser
from autograder.isolation import Limits
from autograder.marks.comments import in_brief
from autograder.marks.exports import (
    Mark,
    canvas,
    github_classroom,
    gradescope_autograder,
    gradescope_results,
    moodle,
    nbgrader_csv,
)
from autograder.marks.exports.formats import FORMATS, unmarked
from autograder.marks.exports.gradescope import MEGABYTES
from autograder.marks.exports.html import as_html
from autograder.marks.exports.marks import ExportError
from autograder.marks.hand_marks import HandMarks
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
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments
Participant 501,Ada Lovelace,ada@example.org,Submitted,,100.00,-,
Participant 502,Alan Turing,alan@example.org,Submitted,,100.00,-,old words
Participant 503,Grace Hopper,,No submission,,100.00,-,
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


def test_an_excused_student_has_no_points_in_nbgraders_columns():
    [line] = nbgrader_csv("hw1", [replace(MARKS[0], excused=True)]).splitlines()[1:]
    assert line.endswith(",,,8.0")


def test_canvas_gets_its_own_sheet_back_with_one_column_filled_in():
    made = canvas("hw1", MARKS, CANVAS_SHEET)
    golden("canvas.csv", made.text)
    assert made.notes == ("scaled from 8 points to the 4 that Canvas has for hw1 (9917)",)


def test_moodle_gets_its_own_worksheet_back_with_grades_and_comments():
    golden(
        "moodle.csv",
        moodle(MARKS, MOODLE_SHEET, {"ada": "After `<s>`, the table gives *where* **1/2**."}).text,
    )


def test_gradescope_results():
    golden("results.json", json.dumps(gradescope_results(RECORD, load(MINI)), indent=1) + "\n")


def test_github_classroom_workflow():
    text = github_classroom("hw1", Address("https://github.com/somebody/course", "v1.2.3"))
    golden("checks.yml", text)
    assert yaml.safe_load(text)["jobs"]["checks"]["steps"][-1]["run"] == "nbgrader validate hw1.ipynb"


TWO_COLUMNS = """\
Student,ID,SIS User ID,SIS Login ID,Root Account,Section,Homework 1: hw1 (9917),Essay (9918),Final Score
,,,,,,Manual Posting,,
    Points Possible,,,,,,8.00,10.00,(read only)
"Lovelace, Ada",501,u17,ada,uni.edu,A,,,
"Turing, Alan",502,u18,alan@example.org,uni.edu,A,1.0,,
"Test, Student",504,,,uni.edu,A,N/A,,
"""


@pytest.mark.parametrize("column", ["9917", "Homework 1: hw1", "Homework 1: hw1 (9917)"])
def test_the_assignment_of_canvas_may_be_named_by_title_or_number(column):
    made = canvas("hw1", MARKS, TWO_COLUMNS, column)
    rows = list(csv.DictReader(io.StringIO(made.text)))
    assert [row["Homework 1: hw1 (9917)"] for row in rows] == ["Manual Posting", "8.00", "7.5", "5", "N/A"]
    assert "Essay (9918)" not in rows[0]
    assert rows[2]["Root Account"] == "uni.edu"
    assert made.notes == ()


@pytest.mark.parametrize("column", [None, "hw2", "Final Score", "Section"])
def test_no_second_assignment_is_made_in_canvas_and_those_there_are_are_named(column):
    with pytest.raises(ExportError, match=r"--column: Homework 1: hw1 \(9917\); Essay \(9918\)\.$"):
        canvas("hw1", MARKS, TWO_COLUMNS, column)


def test_a_title_that_two_assignments_have_is_asked_about():
    twice = CANVAS_SHEET.replace("Final Score", "hw1 (9918)")
    with pytest.raises(ExportError, match=r"2 assignments called hw1.*hw1 \(9917\); hw1 \(9918\)"):
        canvas("hw1", MARKS, twice.replace("(read only)", "4.00"))


def test_a_sheet_with_semicolons_is_read_and_one_with_names_apart():
    head = "LastName;FirstName;ID;SIS Login ID;Section;hw1 (9917)\n    Points Possible;;;;;8\n"
    sheet = head + "King;Ada;5;ada;A;\n"
    rows = list(csv.reader(io.StringIO(canvas("hw1", MARKS[:1], sheet).text)))
    assert rows[2] == ["King", "Ada", "5", "ada", "A", "7.5"]


def test_who_is_excused_says_so_to_canvas_and_keeps_moodles_row():
    excused = [replace(MARKS[0], excused=True), *MARKS[1:]]
    rows = list(csv.DictReader(io.StringIO(canvas("hw1", excused, CANVAS_SHEET).text)))
    assert [row["hw1 (9917)"] for row in rows] == ["4.00", "EX", "2.5", ""]
    made = moodle(excused, MOODLE_SHEET)
    assert "Participant 501,Ada Lovelace,ada@example.org,Submitted,,100.00,-," in made.text
    assert made.notes == ("ada is excused, which Moodle cannot record",)


def test_a_student_without_a_row_is_listed_and_the_others_marks_are_written():
    rows = CANVAS_SHEET.splitlines(keepends=True)
    made = canvas("hw1", MARKS, "".join(row for row in rows if "Ada" not in row))
    assert made.missing == ("ada",)
    assert "alan@example.org,A,2.5" in made.text
    made = moodle(MARKS, "".join(row for row in MOODLE_SHEET.splitlines(keepends=True) if "Alan" not in row))
    assert made.missing == ("alan",)
    assert "93.75" in made.text


def test_comments_are_html_in_which_a_students_signs_are_text():
    assert as_html("a `<s>` is *not* **b**\n\n1 < 2 & `x*y*z`") == (
        "<p>a <code>&lt;s&gt;</code> is <em>not</em> <strong>b</strong></p>"
        "<p>1 &lt; 2 &amp; <code>x*y*z</code></p>"
    )


def test_a_date_that_moodle_does_not_know_stays_as_it_is():
    made = moodle(MARKS, MOODLE_SHEET).text
    assert ",-," in made
    assert "'-" not in made


def test_a_worksheet_that_moodle_would_not_read_again_is_refused():
    sheet = MOODLE_SHEET.replace(",Last modified (grade)", "").replace(",-,", ",")
    with pytest.raises(ExportError, match=r"no column Last modified \(grade\)"):
        moodle(MARKS, sheet)


def test_an_empty_sheet_comes_back_as_it_was():
    """What nobody has a mark for is what the platform exported, in the columns that its importer reads."""
    assert moodle([], MOODLE_SHEET).text == MOODLE_SHEET
    filled = canvas("hw1", MARKS, CANVAS_SHEET).text
    assert canvas("hw1", MARKS, filled).text == filled


def test_whoever_waits_for_a_mark_by_hand_is_named_unless_excused():
    waiting = replace(MARKS[0], waits_for_a_person=True)
    assert unmarked(MARKS) == ""
    assert unmarked([waiting, *MARKS[1:]]).endswith("or as 0 if nobody has marked them: ada")
    assert unmarked([replace(waiting, excused=True)]) == ""


def test_formulas_of_students_stay_text():
    assert ",'=cmd()," in nbgrader_csv("hw1", MARKS)
    sheet = MOODLE_SHEET.replace("Ada Lovelace", "=Ada()")
    assert ",'=Ada()," in moodle(MARKS, sheet).text


@pytest.mark.parametrize("sheet", ["", "Name,Points\nAda,3\n"])
def test_a_sheet_of_something_else_is_refused_with_its_columns(sheet):
    with pytest.raises(ExportError, match="no column ID, Section"):
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


def test_moodles_comment_names_each_exercise_that_lost_points_and_keeps_what_is_hidden():
    homework = load(MINI)
    named = in_brief(RECORD, homework)
    assert named.startswith("**Moving average**\nThe width is taken to be three.")
    [exercise] = RECORD.exercises
    unnamed = replace(RECORD, exercises=(replace(exercise, told=()),))
    assert in_brief(unnamed, homework) == "**Moving average**\n✗ Averages are right for windows of any width."
    visible = replace(exercise.checks[2], hidden=False, message="received: 3\nThe result is 3.")
    shown = replace(RECORD, exercises=(replace(exercise, told=(), checks=(visible,)),))
    assert in_brief(shown, homework) == "**Moving average**\nThe result is 3."
    assert in_brief(SubmissionRecord("bo", 0.0, 4.0, "could_not_run", "It is no notebook."), homework) == (
        "It is no notebook."
    )


def test_answers_in_words_that_lost_points_and_comments_are_told():
    homework = load(MINI)
    [written] = homework.written
    given = HandMarks({written.name: written.points - 1.5}, {written.name: "One cause is missing."})
    said = in_brief(RECORD, homework, given).split("\n\n")
    assert said[-2].endswith(f"\n{written.points - 1.5:g} of {written.points:g}")
    assert said[-1] == "One cause is missing."
    assert in_brief(RECORD, homework, HandMarks({written.name: written.points})) == in_brief(RECORD, homework)
    exercise = homework.exercises[0].name
    assert in_brief(RECORD, homework, HandMarks(comments={exercise: "Nearly."})).endswith("Nearly.")


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
    assert "solutions/hw1_language_models/misconceptions/a_perplexity.py" in names
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


def test_the_command_offers_the_formats_there_are(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    offered = " ".join(capsys.readouterr().out.split())
    assert ", ".join([*FORMATS, "canvas-feedback"]) in offered


def run_autograder(tmp_path, submitted, grades=0):
    """The results that the script leaves, with a grader that writes a line, or fails."""
    zipped = zipfile.ZipFile(
        io.BytesIO(gradescope_autograder(ROOT, "hw1_language_models", "after_published"))
    )
    (tmp_path / "run_autograder").write_bytes(zipped.read("run_autograder"))
    grader = tmp_path / "grader"
    grader.write_text(
        f'#!/bin/bash\necho "$@" >> {tmp_path}/called\n[ $1 = grade ] && exit {grades}\n'
        'while [ $# -gt 1 ]; do shift; done; echo graded > "$1"\n'
    )
    grader.chmod(0o755)
    for name in ("source", "results"):
        (tmp_path / name).mkdir()
    for name in submitted:
        path = tmp_path / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    (tmp_path / "submission").mkdir(exist_ok=True)
    names = {"SUBMISSION": "submission", "RESULTS": "results", "SOURCE": "source", "AUTOGRADER": "grader"}
    environment = os.environ | {name: str(tmp_path / place) for name, place in names.items()}
    subprocess.run(
        ["bash", str(tmp_path / "run_autograder")], env=environment, check=True, capture_output=True
    )
    return (tmp_path / "results" / "results.json").read_text()


@pytest.mark.parametrize("name", ["hw1_language_models.ipynb", "work/my solution.ipynb"])
def test_gradescope_grades_the_notebook_wherever_it_lies(name, tmp_path):
    assert run_autograder(tmp_path, [name, "__MACOSX/._x.ipynb", "notes.txt"]) == "graded\n"
    called = (tmp_path / "called").read_text()
    assert "--hidden after_published" in called
    grade = shlex.split(called.splitlines()[0])
    options = parser(VERBS).parse_args(grade)
    assert options.memory == MEGABYTES << 20
    assert options.memory < Limits().memory_bytes
    handed = tmp_path / "source" / "submitted" / "student" / "hw1_language_models"
    assert [path.name for path in handed.iterdir()] == ["hw1_language_models.ipynb"]


@pytest.mark.parametrize(
    ("submitted", "grades", "said"),
    [
        ([], 0, "There is no notebook"),
        (["essay.pdf"], 0, "There is no notebook"),
        (["a.ipynb", "b/c.ipynb"], 0, "There are 2 notebooks"),
        (["a.ipynb"], 1, "stopped before it had a result"),
    ],
)
def test_gradescope_gets_a_results_file_whatever_was_uploaded(submitted, grades, said, tmp_path):
    results = json.loads(run_autograder(tmp_path, submitted, grades))
    assert said in results["output"]
    assert results["score"] == 0


@pytest.mark.parametrize("hidden", ["after_due_date", "after_published", "visible"])
def test_gradescope_shows_hidden_checks_when_it_is_told_to(hidden):
    tests = gradescope_results(RECORD, load(MINI), hidden)["tests"]
    assert [test["visibility"] for test in tests] == ["visible", "visible", hidden]


def test_gradescopes_image_is_given_a_python_that_is_new_enough_and_torch_without_a_gpu(archive):
    setup = archive.read("setup.sh").decode()
    assert "uv venv --python '>=3.11,<3.14'" in setup
    assert "--torch-backend cpu" in setup
    assert "://" not in setup
