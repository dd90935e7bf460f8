"""The points of a bonus are on top of a homework's maximum, wherever points are counted."""

import ast
import re
import shutil
from collections import defaultdict

import pytest
from grading import MINI, NAME, ROOT, SHORT, catalogue, named, released, solved, submit
from test_nbgrader_plugin import exported, nbgrader

from autograder.checking.fingerprints import shipped
from autograder.grade import grade
from autograder.marks.exports.marks import marks_of
from autograder.marks.exports.moodle import moodle
from autograder.marks.records import RecordFolder
from autograder.sample.demo import make_course
from autograder.source.homework import FAILED
from autograder.source.loading import find, names
from autograder.source.notebook import SourceError
from autograder.website.building import building, homework_cards
from course.checks.progress import untried

pytestmark = pytest.mark.usefixtures("one_warm_process")

HOMEWORKS = names(ROOT)
ROW = re.compile(
    r"^\| (?P<part>[A-Z]?) \|.*?\| (?P<minutes>\d+) \| (?P<points>\d+) \|"
    r"(?: (?:(?P<on_top>\d+) minutes, (?P<points_on_top>\d+) points)? \|)?$",
    re.MULTILINE,
)
ANSWERS = {
    "all": None,
    "some": catalogue("misconceptions")["width_is_always_three"],  # loses the hidden check, 2 of 4
}


def with_bonus(folder, label=" bonus", heading=" (bonus)"):
    """The small homework, its exercise a bonus."""
    shutil.copytree(MINI, folder / NAME, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"))
    path = folder / NAME / f"{NAME}.py"
    text = path.read_text()
    for before, after in (
        ('exercise="moving_average"', f'exercise="moving_average"{label}'),
        ("1. Moving average", f"1. Moving average{heading}"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    path.write_text(text)
    return folder / NAME


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bonus")
    course = folder / "course"
    make_course(course, with_bonus(folder), ROOT)
    for student, answer in ANSWERS.items():
        submit(course, student, solved(course, *([answer] if answer else [])))
    return course


@pytest.fixture(scope="module")
def graded(course):
    grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=1)
    return {record.student: record for record in RecordFolder(course / "grades", NAME).all()}


@pytest.mark.parametrize(("label", "heading"), [(" bonus", ""), ("", " (bonus)")])
def test_a_heading_says_what_the_label_says(tmp_path, label, heading):
    folder = with_bonus(tmp_path, label, heading)
    (tmp_path / "solutions").mkdir()
    shutil.move(folder, tmp_path / "solutions" / NAME)
    with pytest.raises(
        SourceError, match=r"the label `bonus` and a heading that ends in \(bonus\) go together"
    ):
        find(NAME, tmp_path)


def test_the_notebook_says_so_and_nbgrader_adds_nothing_to_the_maximum(course):
    notebook = released(course)
    statement = named(notebook, "moving_average-statement")["source"]
    assert "## 1. Moving average (bonus)\n\n*●○○ · 4 points on top · about 5 minutes*" in statement
    worth = {name: named(notebook, name)["metadata"]["nbgrader"]["points"] for name in CELLS}
    assert worth == {"moving_average-check": 0, "moving_average-hidden": 0, "why_smooth": 3}
    homework = find(NAME, course)
    assert "1 exercise · about 5 minutes · 3 points; bonus: 1 exercise · about 5 minutes" in building(
        homework
    )
    assert "<small>1 exercise<br>about 5 minutes<br>3 points + 4 bonus</small>" in homework_cards([homework])


CELLS = "moving_average-check", "moving_average-hidden", "why_smooth"


@pytest.mark.parametrize(("student", "points"), [("all", 4), ("some", 2)])
def test_its_points_are_on_top_in_records_and_marks(course, graded, student, points):
    record = graded[student]
    assert (record.points, record.max_points) == (points, 0)
    assert (record.exercises[0].points, record.exercises[0].max_points) == (points, 4)
    assert FAILED in {check.result for check in record.exercises[0].checks} or student == "all"
    mark = next(mark for mark in marks_of(course, NAME) if mark.student == student)
    assert (mark.score, mark.max_points) == (points, 3)


def test_a_second_run_changes_nothing(course, graded):
    assert grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=1).submissions == tuple(
        graded[student] for student in sorted(graded)
    )


def test_moodle_gets_no_more_than_it_takes(course, graded):
    columns = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade)"
    sheet = f"{columns},Feedback comments\n" + "".join(
        f"Participant {number},{student},{student},Submitted,,100.00,-,\n"
        for number, student in enumerate(graded)
    )
    rows = dict.fromkeys(graded)
    for line in moodle(marks_of(course, NAME), sheet).text.splitlines()[1:]:
        rows[line.split(",")[1]] = float(line.split(",")[4])
    assert rows == {"all": 100, "some": 66.67}


def test_nbgraders_own_command_enters_the_same_points(course, tmp_path):
    copy = shutil.copytree(course, tmp_path / "course", ignore=shutil.ignore_patterns("autograded", "grades"))
    nbgrader(copy, "autograde", NAME, "--force")
    assert exported(copy) == {"all": 4, "some": 2}


@pytest.mark.parametrize("name", HOMEWORKS)
def test_the_table_of_a_homework_adds_up_its_minutes_and_points(name):
    homework = find(name, ROOT)
    regular, on_top, part = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0]), ""
    for cell in homework.cells:
        asked = cell.labels.get("exercise", cell.labels.get("written"))
        if cell.kind == "markdown" and (heading := re.match(r"## Part ([A-Z])\.", cell.source)):
            part = heading[1]
        for each in (each for each in homework.asked if each.name == asked):
            for of_part in (part, ""):  # "" is the row of all parts together
                sums = (on_top if each.bonus else regular)[of_part]
                sums[:] = sums[0] + each.minutes, sums[1] + each.points
    rows = {row["part"]: row for row in ROW.finditer(homework.cells[0].source)}
    assert {part: [int(row["minutes"]), int(row["points"])] for part, row in rows.items()} == regular
    said = {
        part: [int(row["on_top"]), int(row["points_on_top"])] for part, row in rows.items() if row["on_top"]
    }
    assert said == on_top


@pytest.mark.parametrize("name", HOMEWORKS)
def test_progress_counts_every_point_of_a_homework_before_a_check_has_run(name):
    homework, scores = find(name, ROOT), untried(shipped(ROOT, name)).values()
    for is_bonus, asked in ((False, homework.regular), (True, homework.on_top)):
        counted = sum(score.worth + score.later for score in scores if score.bonus == is_bonus)
        assert counted == sum(each.points for each in asked)


def test_no_homework_is_longer_than_some_twenty_exercises():
    assert max(len(find(name, ROOT).regular) for name in HOMEWORKS) <= 22


def test_no_living_end_needs_a_bonus():
    on_top = {each.name for name in HOMEWORKS for each in find(name, ROOT).on_top}
    used = set()
    for name in HOMEWORKS:
        for cell in find(name, ROOT).cells:
            used |= _parts_in(cell.source) if "alive" in cell.labels else set()
    assert len(used) > 20
    assert used & on_top == set()


def _parts_in(code):
    """The names of the parts that a cell puts together, and its strings, among which those of `USED` are."""
    nodes = list(ast.walk(ast.parse(code)))
    calls = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "parts"]
    given = {keyword.arg for call in calls for keyword in call.keywords if keyword.arg}
    return given | {
        node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
