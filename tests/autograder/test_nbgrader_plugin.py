"""nbgrader's own commands, run for real in a course that this grader graded or is plugged into."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from grading import NAME, RIGHT, SHORT, catalogue, named, new_course, released, solved, submit, unplug
from nbgrader.api import Gradebook
from nbgrader.utils import determine_grade, is_grade
from nbgrader.validator import Validator

from autograder.grade import grade
from autograder.grading.redaction import DOES_NOT_HOLD
from autograder.marks.records import RecordFolder
from autograder.source.sample_submissions import answered

pytestmark = pytest.mark.usefixtures("one_warm_process")

NBGRADER = Path(sysconfig.get_path("scripts")) / "nbgrader"

MARKUP = "<script>alert('gotcha')</script> <img src=x onerror=alert('gotcha')>"
NOISY = f"""
from IPython.display import HTML, display
display(HTML({MARKUP!r}))
print({MARKUP!r})

def moving_average(values, width):
    raise ValueError({MARKUP!r} + repr(values))
"""
TELLS = NOISY.replace("raise ValueError", "if width in (4, 11): raise ValueError")
HONEST = {
    "right": RIGHT,
    "divides_by_all": catalogue("misconceptions")["divides_by_all"],
    "by_running_totals": catalogue("alternatives")["by_running_totals"],
    "syntax": "def moving_average(values, width:\n    return values",
}


def nbgrader(course, *words):
    done = subprocess.run(
        [NBGRADER, *words],
        cwd=course,
        env=os.environ | {"PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def exported(course):
    """Each student's score as `nbgrader export` writes it."""
    nbgrader(course, "export", "--CsvExportPlugin.to=marks.csv")
    with open(course / "marks.csv", newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("template") / "course")
    for student, answer in HONEST.items():
        submit(course, student, solved(course, answer))
    submit(course, "untouched", released(course))
    return course


@pytest.fixture(scope="module")
def graded(template, tmp_path_factory):
    """A course that this grader graded, with two odd submissions more."""
    course = shutil.copytree(template, tmp_path_factory.mktemp("graded") / "course")
    question = named(released(course), "why_smooth")["source"]
    noisy = answered(solved(course, NOISY), {"why_smooth": f"{question} $\\log_2 p$ {MARKUP}"})
    noisy["cells"].append({"cell_type": "markdown", "metadata": {}, "source": MARKUP})
    submit(course, "noisy", noisy)
    submit(course, "broken", "{")
    grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=2)
    return course


@pytest.fixture(scope="module")
def stock(template, tmp_path_factory):
    """A course that unchanged nbgrader graded, with a submission that tells what it was asked."""
    course = shutil.copytree(template, tmp_path_factory.mktemp("stock") / "course")
    submit(course, "tells", solved(course, TELLS))
    unplug(course)
    nbgrader(course, "autograde", NAME)
    return course


@pytest.fixture(scope="module")
def plugged(template, tmp_path_factory):
    """A course that nbgrader graded as it is set here, plugged in, with a submission that cheats."""
    course = shutil.copytree(template, tmp_path_factory.mktemp("plugged") / "course")
    patch = "import course.checks.claim\ncourse.checks.claim.examine = None\nmoving_average = 3"
    cheat = solved(course, patch)
    named(cheat, "moving_average-check")["metadata"]["nbgrader"]["points"] = 50
    named(cheat, "moving_average-check")["source"] = "pass"
    cheat["cells"].remove(named(cheat, "moving_average-hidden"))
    submit(course, "cheat", cheat)
    (course / "log").write_text(nbgrader(course, "autograde", NAME))
    return course


@pytest.fixture(scope="module")
def honest_points(stock):
    points = exported(stock)
    return {student: points[student] for student in [*HONEST, "untouched"]}


def test_plain_nbgrader_gives_honest_work_the_same_points(graded, honest_points):
    ours = exported(graded)
    assert {student: ours[student] for student in honest_points} == honest_points
    assert set(honest_points.values()) == {0, 1, 4}


def test_plugged_into_nbgrader_the_judge_gives_the_same_points(plugged, honest_points):
    assert exported(plugged) == honest_points | {"cheat": 0}


def by_cell(course, student):
    with Gradebook(f"sqlite:///{course}/gradebook.db", "language-models") as gradebook:
        grades = gradebook.find_submission_notebook(NAME, NAME, student).grades
        return {grade.name: (grade.auto_score, grade.max_score) for grade in grades}


@pytest.mark.parametrize("way", ["graded", "stock", "plugged"])
def test_an_answer_that_is_half_right_has_the_same_points_in_each_cell_whoever_grades(request, way):
    points = by_cell(request.getfixturevalue(way), "divides_by_all")
    assert points["moving_average-check"] == (1, 2)
    assert points["moving_average-hidden"] == (0, 2)


def test_validation_sees_the_points_that_an_answer_that_is_half_right_is_given(template):
    path = template / "submitted" / "divides_by_all" / NAME / f"{NAME}.ipynb"
    validator = Validator()
    notebook = validator._preprocess(nbformat.read(path, 4))
    points = {
        cell.id: determine_grade(cell)
        for cell in notebook.cells
        if is_grade(cell) and cell.cell_type == "code"
    }
    assert points == {"moving_average-check": (1, 2), "moving_average-hidden": (2, 2)}
    [failed] = validator.validate(str(path))["failed"]
    assert failed["raw_error"] == "Partial credit; passed some but not all of the tests"


def test_feedback_lists_every_claim_with_its_sign(feedback):
    words = feedback["divides_by_all"].words
    assert "✓ Seven values hold five windows of width three." in words
    assert "✗ [2, 4, 9, 1] averages to [5, 14/3] in windows of three." in words


def test_plugged_into_nbgrader_the_judge_repairs_submissions(plugged):
    log = (plugged / "log").read_text()
    assert "cheat: Restored 1 check cell (moving_average-hidden)" in log
    assert "cheat: Changed by the student and restored: 1 cell (moving_average-check)." in log


def test_plugged_into_nbgrader_the_mistake_is_named_in_the_notebook(plugged):
    path = plugged / "autograded" / "divides_by_all" / NAME / f"{NAME}.ipynb"
    answer = named(json.loads(path.read_text()), "moving_average")
    shown = "".join("".join(output["text"]) for output in answer["outputs"])
    assert "The sum of each window is divided by the number of all values." in shown
    assert RecordFolder(plugged / "grades", NAME).find("divides_by_all").points == 1


class Page(HTMLParser):
    """The text of a page, and what in it could run."""

    def __init__(self, path):
        super().__init__()
        self.text, self.active, self._skipped = [], [], 0
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        self._skipped += tag in ("script", "style")
        self.active += [name for name, _ in attributes if name.startswith("on")]

    def handle_endtag(self, tag):
        self._skipped -= tag in ("script", "style")

    def handle_data(self, data):
        if not self._skipped:
            self.text.append(data)
        elif "gotcha" in data:
            self.active.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())


@pytest.fixture(scope="module")
def feedback(graded):
    assert "WARNING" not in nbgrader(graded, "generate_feedback", NAME)
    return {path.parts[-3]: Page(path) for path in graded.glob("feedback/*/*/*.html")}


def test_every_student_gets_feedback(feedback):
    assert set(feedback) == {*HONEST, "untouched", "noisy", "broken"}


def test_feedback_says_what_went_wrong_and_asks(feedback):
    words = feedback["divides_by_all"].words
    assert "every value is 0.75 times the expected one" in words.lower()
    assert "The sum of each window is divided by the number of all values." in words
    assert "How many numbers did you add up before you divided?" in words
    assert DOES_NOT_HOLD in words


def test_feedback_says_why_a_file_could_not_be_graded(feedback):
    assert (
        "could not be graded automatically. The notebook ends abruptly in line 1" in feedback["broken"].words
    )


def test_feedback_shows_the_claims_and_no_line_of_hidden_checks(graded, feedback):
    for page in feedback.values():
        assert "Averages are right for windows of any width." in page.words
    for path in graded.glob("feedback/**/*.html"):
        assert not re.search("pelican|cormorant|HIDDEN TESTS", path.read_text())


def test_feedback_opens_with_the_exercises_and_claims_and_their_scores(graded, feedback):
    words = feedback["divides_by_all"].words
    assert words.index("Moving average · 1 of 4") < words.index("2 claims in your notebook · 1 of 2")
    assert "Averages are right for windows of any width. · 0 of 2" in words
    assert "Test cell" not in words
    [path] = graded.glob("feedback/divides_by_all/*/*.html")
    page = path.read_text()
    for identity in re.findall(r'<a href="#([\w-]+)">', page.partition('id="notebook"')[0]):
        assert f'<a name="{identity}"></a>' in page


def test_feedback_fetches_nothing_from_elsewhere(graded, feedback):
    for path in graded.glob("feedback/**/*.html"):
        assert not re.search(r"src=[\"']?(https?:)?//", path.read_text())


def test_feedback_runs_nothing_that_a_student_wrote(feedback):
    assert "gotcha" in feedback["noisy"].words
    assert feedback["noisy"].active == []


def test_feedback_sets_formulas(graded, feedback):
    [path] = graded.glob("feedback/noisy/*/*.html")
    assert "<msub>" in path.read_text()
    assert "msub" not in feedback["noisy"].words


def test_feedback_leaks_nothing_even_where_plain_nbgrader_graded(stock):
    nbgrader(stock, "generate_feedback", NAME, "--student", "tells")
    [path] = stock.glob("feedback/tells/*/*.html")
    page = Page(path)
    assert page.active == []
    assert "pelican" not in path.read_text()
    assert DOES_NOT_HOLD in page.words


def test_autograded_notebooks_are_valid_for_nbgrader(graded):
    script = (
        "import sys, nbformat\nfrom nbgrader.nbgraderformat import MetadataValidator\n"
        "for path in sys.argv[1:]:\n"
        "    notebook = nbformat.read(path, 4)\n"
        "    nbformat.validate(notebook)\n"
        "    MetadataValidator().validate_nb(notebook)\n"
    )
    paths = [str(path) for path in graded.glob("autograded/*/*/*.ipynb")]
    assert len(paths) == len(HONEST) + 3
    subprocess.run([sys.executable, "-c", script, *paths], check=True)
