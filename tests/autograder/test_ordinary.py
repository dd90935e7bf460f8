"""An assignment of nbgrader's own, without a source: released, graded in the sandbox, its checks in place."""

import html
import json
import shutil
import subprocess
import sysconfig
from pathlib import Path

import nbformat
import pytest
from grading import SHORT, new_course
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.grade import grade
from autograder.grading.in_place import NOT_PASSED, SENTENCE, UNFINISHED, verdict
from autograder.isolation import CellResult, Fault
from autograder.making.data_files import MOST_BYTES
from autograder.making.release import release
from autograder.marks.records import RecordFolder
from autograder.source.homework import Check
from autograder.source.loading import assignments, find, names
from autograder.source.notebook import SourceError

pytestmark = pytest.mark.usefixtures("one_warm_process")

NAME = "ps1"
SECRET = "square(-2) == 4"
RIGHT = "def square(x):\n    return x * x"
TELLS_ALL = (
    RIGHT + "\n\ndef told():\n    print(open('/proc/self/cmdline').read(), *get_ipython().user_ns['In'])"
)


def graded(name, points, kind="code", **options):
    known = {"grade": True, "solution": False, "grade_id": name, "locked": True, "schema_version": 3}
    return {"nbgrader": {**known, "task": False, "cell_type": kind, "points": points, **options}}


def answer(name):
    known = {"grade": False, "solution": True, "grade_id": name, "locked": False, "schema_version": 3}
    return {"nbgrader": {**known, "task": False, "cell_type": "code"}}


def notebook():
    hidden = f"### BEGIN HIDDEN TESTS\nassert {SECRET}\n### END HIDDEN TESTS"
    cells = [
        new_markdown_cell("# Problem set 1"),
        new_code_cell("import math", metadata=graded("given", 0, grade=False)),
        new_code_cell("### BEGIN SOLUTION\n" + RIGHT + "\n### END SOLUTION", metadata=answer("square")),
        new_code_cell(f"assert square(3) == 9\n{hidden}", metadata=graded("squares", 2)),
        new_code_cell("assert square(1.5) == 2.25", metadata=graded("fractions", 1)),
        new_code_cell("def root(x):\n    return math.sqrt(x)", metadata=answer("root")),
        new_code_cell("0.5 if root(16) == 4 else 0", metadata=graded("roots", 1)),
        new_markdown_cell("Why?", metadata=graded("why", 3, "markdown", solution=True, locked=False)),
    ]
    return new_notebook(cells=cells)


ANSWERS = {
    "ada": RIGHT,
    "bob": "def square(x):\n    return x ** 2 if x > 0 else 0",
    "cleo": "def square(x):\n    return x + 6",
    "dora": "def square(x):\n    import os\n    os._exit(3)",
    "emil": TELLS_ALL,
    "finn": "def square(x):\n    while x < 0:\n        pass\n    return x * x",
}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("ordinary") / "course")
    folder = course / "solutions" / NAME
    folder.mkdir()
    nbformat.write(notebook(), folder / f"{NAME}.ipynb")
    release(course, NAME)
    for student, text in ANSWERS.items():
        handed = nbformat.read(course / "homeworks" / NAME / f"{NAME}.ipynb", as_version=4)
        named(handed, "square").source = text
        named(handed, "root").source = "def root(x):\n    return x ** 0.5"
        handed.cells.append(new_code_cell("told() if 'told' in globals() else None"))
        path = course / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(handed, path)
    return course


@pytest.fixture(scope="module")
def course(released, tmp_path_factory):
    """The same course, graded."""
    course = shutil.copytree(released, tmp_path_factory.mktemp("graded") / "course")
    grade(NAME, course / "submitted", root=course, limits=SHORT)
    return course


def named(notebook, name):
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def checks_of(course, student):
    record = RecordFolder(course / "grades", NAME).find(student)
    return {check.name: check for exercise in record.exercises for check in exercise.checks}


def test_it_is_an_assignment_and_no_homework_with_a_source(released):
    assert NAME in assignments(released)
    assert NAME not in names(released)
    homework = find(NAME, released)
    assert {exercise.name: len(exercise.checks) for exercise in homework.exercises} == {
        "square": 2,
        "root": 1,
    }
    assert [check.name for check in homework.checks if check.hidden] == ["squares"]


def test_the_release_has_neither_solution_nor_hidden_tests(released):
    text = (released / "homeworks" / NAME / f"{NAME}.ipynb").read_text()
    for secret in (SECRET, "x * x", "math.sqrt"):
        assert secret not in text
    assert "square(3) == 9" in text


@pytest.mark.parametrize(
    ("student", "results"),
    [
        ("ada", ("passed", "passed")),
        ("bob", ("failed", "passed")),
        ("cleo", ("passed", "failed")),
        ("dora", ("failed", "failed")),
    ],
)
def test_each_cell_that_runs_without_an_error_earns_its_points(course, student, results):
    checks = checks_of(course, student)
    assert (checks["squares"].result, checks["fractions"].result) == results
    with Gradebook(f"sqlite:///{course}/gradebook.db", "language-models") as gradebook:
        submission = gradebook.find_submission_notebook(NAME, NAME, student)
        points = {entry.name: entry.auto_score for entry in submission.grades}
    worth = {"squares": 2.0, "fractions": 1.0}
    assert {name: points[name] for name in worth} == {
        name: worth[name] if checks[name].result == "passed" else 0.0 for name in worth
    }


def test_an_error_is_told_where_students_can_see_the_test_and_only_there(course):
    assert checks_of(course, "bob")["squares"].message == "A hidden test of this cell does not pass."
    assert "assert square(1.5) == 2.25" in checks_of(course, "cleo")["fractions"].message
    assert "exited with status 3" in checks_of(course, "dora")["squares"].message


def test_a_hidden_test_that_does_not_end_is_not_called_wrong(course):
    check = checks_of(course, "finn")["squares"]
    assert (check.result, check.message) == ("failed", UNFINISHED)


def test_partial_credit_is_left_to_a_person(course):
    check = checks_of(course, "ada")["roots"]
    assert (check.result, check.message) == (
        "could_not_run",
        "This cell returns a number of points; please grade it by hand.",
    )


def test_code_that_runs_after_a_hidden_test_cannot_tell_it(course):
    text = (course / "autograded" / "emil" / NAME / f"{NAME}.ipynb").read_text()
    told = json.loads(text)["cells"][-1]["outputs"]
    assert "square(3) == 9" in json.dumps(told)  # it did tell what it knew
    assert SECRET not in json.dumps(told)


def test_every_record_says_that_its_checks_ran_in_place(course):
    for record in RecordFolder(course / "grades", NAME).all():
        assert record.isolation.endswith(", checks in place")
    summary = json.loads((course / "grades" / f"{NAME}.json").read_text())
    assert summary["isolation"]["checks"] == SENTENCE
    assert summary["notes"] == []  # it is as it was released


def test_the_report_says_it_too(course):
    assert main(["report", NAME, "--root", f"{course}"]) == 0
    assert SENTENCE in html.unescape((course / "grades" / f"{NAME}.html").read_text())


def test_a_submission_is_graded_again_when_any_cell_of_the_notebook_changed(course, tmp_path):
    course = shutil.copytree(course, tmp_path / "course")
    before = versions_and_seconds(course)
    grade(NAME, course / "submitted", root=course, limits=SHORT)
    assert versions_and_seconds(course) == before
    path = course / "solutions" / NAME / f"{NAME}.ipynb"
    changed = nbformat.read(path, as_version=4)
    named(changed, "given").source = "import math\nE = math.e"
    nbformat.write(changed, path)
    release(course, NAME)
    grade(NAME, course / "submitted", root=course, limits=SHORT)
    after = versions_and_seconds(course)
    assert all(after[student] != before[student] for student in ANSWERS)


def versions_and_seconds(course):
    records = RecordFolder(course / "grades", NAME).all()
    return {record.student: (record.versions, record.seconds) for record in records}


@pytest.mark.parametrize("command", ["verify", "build"])
def test_what_needs_a_source_says_so_and_writes_nothing(released, command, capsys):
    path = released / "solutions" / NAME / f"{NAME}.ipynb"
    before = path.read_bytes()
    assert main([command, NAME, "--root", f"{released}"]) != 0
    assert "is a notebook without a source" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_nbgraders_own_command_grades_it_with_the_judge(released, tmp_path):
    course = shutil.copytree(released, tmp_path / "course")
    for student in ("cleo", "dora", "emil", "finn"):
        shutil.rmtree(course / "submitted" / student)
    nbgrader = Path(sysconfig.get_path("scripts"), "nbgrader")
    path = course / "solutions" / NAME / f"{NAME}.ipynb"
    plain = nbformat.read(path, as_version=4)  # nbgrader knows no marks that only a person can give
    plain.cells = [
        cell for cell in plain.cells if cell.metadata.get("nbgrader", {}).get("grade_id") != "roots"
    ]
    nbformat.write(plain, path)
    release(course, NAME)
    subprocess.run([nbgrader, "autograde", NAME], cwd=course, check=True, capture_output=True)
    assert {student: checks_of(course, student)["squares"].result for student in ("ada", "bob")} == {
        "ada": "passed",
        "bob": "failed",
    }


def test_an_error_called_died_is_no_death():
    check = Check("a_check", "a", "It holds.", hidden=True, points=1, source="", line=0, cell="a_check")
    fault = Fault("Died", "as if")
    dead, alive = (CellResult("", [], fault, died=died) for died in (True, False))
    whole = CellResult("", [], None)
    assert verdict(check, whole, dead).message == UNFINISHED
    assert verdict(check, whole, alive).message == NOT_PASSED


DATA = "homework,points\nps1,7\n"
READS = "import csv, os\nwith open('data.csv') as file:\n    points = list(csv.reader(file))[1][1]"


def with_data(course, files):
    """An ordinary assignment beside these files, released; its check wants 7 points and a certain table."""
    folder = course / "solutions" / "ps2"
    for name, text in {"data.csv": DATA, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    cells = [
        new_code_cell("### BEGIN SOLUTION\n" + READS + "\n### END SOLUTION", metadata=answer("points")),
        new_code_cell("assert points == '7'", metadata=graded("read", 2)),
        new_code_cell("assert open('tables/more.csv').read() == 'more'", metadata=graded("nested", 1)),
    ]
    nbformat.write(new_notebook(cells=cells), folder / "ps2.ipynb")
    return release(course, "ps2")


def hand_in(course, student, files=None):
    handed = nbformat.read(course / "homeworks" / "ps2" / "ps2.ipynb", as_version=4)
    named(handed, "points").source = READS
    folder = course / "submitted" / student / "ps2"
    folder.mkdir(parents=True)
    nbformat.write(handed, folder / "ps2.ipynb")
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def results(course, student):
    record = RecordFolder(course / "grades", "ps2").find(student)
    return [check.result for exercise in record.exercises for check in exercise.checks], record.flags


@pytest.fixture(scope="module")
def course_with_data(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("data") / "course")
    with_data(course, {"tables/more.csv": "more"})
    hand_in(course, "ada")
    hand_in(
        course, "bob", {"data.csv": b"homework,points\nps1,700\n", "tables": b"in the way", "mine.csv": b""}
    )
    hand_in(course, "cleo", {"tables/more.csv/nested.csv": b"in the way"})
    hand_in(course, "dora", {"large.npz": bytes(MOST_BYTES + 1)})
    grade("ps2", course / "submitted", root=course, limits=SHORT)
    return course


def test_data_is_released_beside_the_notebook_in_its_folder_too(course_with_data):
    folder = course_with_data / "homeworks" / "ps2"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {"ps2.ipynb", "data.csv", "tables/more.csv"}


def test_a_notebook_reads_the_data_of_its_assignment_in_its_folder_too(course_with_data):
    assert results(course_with_data, "ada") == (["passed", "passed"], ())


@pytest.mark.parametrize("student", ["bob", "cleo"])
def test_of_one_name_the_courses_data_is_read_whatever_was_handed_in(course_with_data, student):
    assert results(course_with_data, student) == (["passed", "passed"], ())


def test_data_that_is_too_large_is_left_out_and_flagged(course_with_data):
    verdicts, flags = results(course_with_data, "dora")
    assert verdicts == ["passed", "passed"]
    assert flags == (
        "The data files that were handed in are left out: "
        "the files beside the notebook take more than 64 MB.",
    )


def test_data_of_the_course_that_is_too_large_is_said_before_anything_is_graded(course_with_data, tmp_path):
    course = shutil.copytree(course_with_data, tmp_path / "course")
    (course / "solutions" / "ps2" / "large.npz").write_bytes(bytes(MOST_BYTES + 1))
    with pytest.raises(SourceError, match="take more than 64 MB"):
        grade("ps2", course / "submitted", root=course, limits=SHORT)


def test_what_a_student_handed_in_beside_the_notebook_lies_there(course_with_data, tmp_path):
    course = shutil.copytree(course_with_data, tmp_path / "course")
    (course / "solutions" / "ps2" / "data.csv").unlink()
    shutil.rmtree(course / "submitted")
    hand_in(course, "ada", {"data.csv": DATA.encode()})
    hand_in(course, "bob")
    grade("ps2", course / "submitted", root=course, limits=SHORT)
    assert results(course, "ada")[0] == ["passed", "passed"]
    assert results(course, "bob")[0] == ["failed", "passed"]
    record = RecordFolder(course / "grades", "ps2").find("ada")
    (course / "submitted" / "ada" / "ps2" / "data.csv").write_text(DATA.replace("7", "8"))
    grade("ps2", course / "submitted", root=course, limits=SHORT)
    assert results(course, "ada")[0] == ["failed", "passed"]
    assert RecordFolder(course / "grades", "ps2").find("ada").source != record.source
