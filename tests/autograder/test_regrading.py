"""A fixed check or changed points touch their own exercise, keep what a person did, and say who changes."""

import json
import shutil

import pytest
from grading import ROOT, SHORT
from nbgrader.api import Gradebook

from autograder import paper, pool
from autograder.changes import changes, examined_again, in_words, marked_by_hand
from autograder.cli import main
from autograder.demo import make_course
from autograder.grade import grade
from autograder.gradebook import MarkBook
from autograder.homework import load
from autograder.plan import NotReleased
from autograder.records import RecordFolder
from autograder.release import release
from autograder.sample_submissions import answered, hand_in, reference_answers
from autograder.versions import exercise_versions

pytestmark = pytest.mark.usefixtures("one_warm_process")

NAME = "two_exercises"
SOURCE = '''\
# %% [markdown]
# # Two

# %% setup

# %% provided="imports"
from course.checks import assert_close, assert_equal, homework

check = homework("two_exercises")

# %% [markdown] exercise="double" difficulty=1 minutes=1
# ## 1. Double


# %% solution="double"
def double(number):
    """Twice the number."""
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION


# %% check="three_doubled_is_six" points=1
def three_doubled_is_six(double):
    """Three doubled is six."""
    assert_equal(double(3), 6)


check(three_doubled_is_six, double)


# %% check="any_number_is_doubled" points=2 hidden
def any_number_is_doubled(double, draw):
    """Any number is doubled."""
    number = draw.number(1, 2)
    assert_close(double(number), 2 * number)


check(any_number_is_doubled, double)

# %% [markdown] exercise="square" difficulty=1 minutes=1
# ## 2. Square


# %% solution="square"
def square(number):
    """The number times itself."""
    ### BEGIN SOLUTION
    return number * number
    ### END SOLUTION


# %% check="three_squared_is_nine" points=2
def three_squared_is_nine(square):
    """Three squared is nine."""
    assert_equal(square(3), 9)


check(three_squared_is_nine, square)

# %% [markdown] written="why" points=3 minutes=1
# Why?
#
# ### BEGIN SOLUTION
# Because.
# ### END SOLUTION
'''
CATALOGUE = '''\
"""What goes wrong."""

from autograder.catalogue import misconception


@misconception(of="double", fails={"any_number_is_doubled"})
def adds_three(number):
    """Three is added.

    What is one doubled?
    """
    return number + 3


@misconception(of="square", fails={"three_squared_is_nine"})
def doubles(number):
    """The number is doubled.

    What is a square?
    """
    return 2 * number
'''
WRONG_SQUARE = "def square(number):\n    return number ** 3"


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory):
    """A course in which ada is right, bob adds three and cleo cubes, graded; bob was marked by hand too."""
    root = tmp_path_factory.mktemp("regrading")
    folder = root / NAME
    folder.mkdir()
    (folder / f"{NAME}.py").write_text(SOURCE)
    (folder / "misconceptions.py").write_text(CATALOGUE)
    course = root / "course"
    make_course(course, folder, ROOT)
    right = reference_answers(load(folder))
    adds_three = "def double(number):\n    return number + 3"
    start = json.loads((course / "homeworks" / NAME / f"{NAME}.ipynb").read_text())
    start["cells"] = [{**cell, "source": "".join(cell["source"])} for cell in start["cells"]]
    answers = {"ada": {}, "bob": {"double": adds_three}, "cleo": {"square": WRONG_SQUARE}}
    for student, changed in answers.items():
        hand_in(course / "submitted", student, NAME, answered(start, {**right, **changed}))
    hand_in(course / "submitted", "dan", NAME, "not a notebook")
    run(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        mark = gradebook.find_grade("any_number_is_doubled", NAME, NAME, "bob")
        mark.manual_score, mark.needs_manual_grade = 0.5, False
        gradebook.find_comment("double", NAME, NAME, "bob").manual_comment = "A good try."
        gradebook.db.commit()
    return course


@pytest.fixture
def course(graded_once, tmp_path):
    return shutil.copytree(graded_once, tmp_path / "course")


@pytest.fixture
def judged(monkeypatch):
    """The exercises examined for each student from here on, and the seeds; judging stays in this process."""
    seen = {}
    judge = paper.grade_submission

    def watched(student, data, plan, start, seed, kept):
        names = {exercise.name for exercise in plan.homework.exercises}
        seen[student] = (names - set(kept), seed)
        return judge(student, data, plan, start, seed, kept)

    monkeypatch.setattr(paper, "grade_submission", watched)
    monkeypatch.setattr(pool, "forked", one_after_the_other)
    return seen


def one_after_the_other(tasks, work, jobs, seconds):
    for task in tasks:
        yield task, work(task)


def names_examined(judged):
    """Without dan, whose file cannot be read and is tried again as a whole."""
    return {student: names for student, (names, _) in judged.items() if student != "dan"}


def run(course):
    record = grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=1)
    return {submission.student: submission for submission in record.submissions}


def records(course):
    return {record.student: record for record in RecordFolder(course / "grades", NAME).all()}


def change(course, *pairs, file=f"{NAME}.py"):
    """Edit the homework and release it again."""
    path = course / "solutions" / NAME / file
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    release(course, NAME)


def test_nothing_is_done_where_nothing_changed(course, judged):
    before = records(course)
    assert run(course) == before
    assert judged == {}


def test_a_fixed_check_is_examined_again_for_its_exercise_alone(course, judged):
    before = records(course)
    change(course, ("assert_equal(square(3), 9)", "assert square(3) in (9, 27)"))
    after = run(course)
    assert names_examined(judged) == {student: {"square"} for student in ("ada", "bob", "cleo")}
    assert all(judged[student][1] == before[student].seed for student in ("ada", "bob", "cleo"))
    assert {student: record.points for student, record in after.items()} == {
        "ada": 5,
        "bob": 3,
        "cleo": 5,
        "dan": 0,
    }
    assert all(after[student].exercises[0] == before[student].exercises[0] for student in before)


def test_who_changes_is_said_with_the_exercise_and_by_how_much(course):
    before = records(course)
    change(course, ("assert_equal(square(3), 9)", "assert square(3) in (9, 27)"))
    after = run(course)
    [one] = changes(before.values(), after.values())
    assert (one.student, one.before, one.after, one.exercises) == ("cleo", 3, 5, (("square", 0, 2),))
    assert examined_again(before.values(), after.values()) == {"square": 4}
    assert list(in_words(before.values(), after.values()))[1:] == [
        "1 mark changed:",
        "  cleo  3 → 5  (+2)  square 0 → 2",
    ]


def test_changed_points_are_counted_without_running_anything(course, judged):
    change(course, ('check="any_number_is_doubled" points=2', 'check="any_number_is_doubled" points=4'))
    after = run(course)
    assert judged == {}
    assert {student: (record.points, record.max_points) for student, record in after.items()} == {
        "ada": (7, 7),
        "bob": (3, 7),
        "cleo": (5, 7),
        "dan": (0, 7),
    }
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        assert gradebook.find_grade("any_number_is_doubled", NAME, NAME, "ada").auto_score == 4
        assert gradebook.find_submission(NAME, "ada").max_score == 10
    shown = json.loads((course / "autograded" / "ada" / NAME / f"{NAME}.ipynb").read_text())
    points = [
        cell["metadata"]["nbgrader"].get("points")
        for cell in shown["cells"]
        if cell["id"] == "any_number_is_doubled"
    ]
    assert points == [4]
    assert run(course) == after


@pytest.mark.parametrize(
    "pairs",
    [
        [('check="any_number_is_doubled" points=2', 'check="any_number_is_doubled" points=4')],
        [("assert_equal(square(3), 9)", "assert square(3) in (9, 27)")],
        [("number = draw.number(1, 2)", "number = draw.number(1, 4)")],
    ],
    ids=["points", "another exercise's check", "the same check"],
)
def test_what_a_person_marked_and_wrote_stays(course, pairs):
    change(course, *pairs)
    run(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        assert gradebook.find_grade("any_number_is_doubled", NAME, NAME, "bob").manual_score == 0.5
        comment = gradebook.find_comment("double", NAME, NAME, "bob")
        assert comment.manual_comment == "A good try."
        assert comment.auto_comment.startswith("Three is added.")


def test_a_mistake_that_is_described_anew_is_looked_for_again_in_its_exercise(course, judged):
    change(course, ("The number is doubled.", "Twice the number is given."), file="misconceptions.py")
    run(course)
    assert names_examined(judged) == {student: {"square"} for student in ("ada", "bob", "cleo")}


def test_what_all_checks_rest_on_regrades_everything(course, judged):
    change(
        course, ("import assert_close, assert_equal, homework", "import assert_equal, assert_close, homework")
    )
    run(course)
    assert {frozenset(names) for names, _ in judged.values()} == {frozenset({"double", "square"})}


def test_a_change_that_was_not_released_is_refused(course):
    path = course / "solutions" / NAME / f"{NAME}.py"
    path.write_text(path.read_text().replace("points=2 hidden", "points=9 hidden"))
    with pytest.raises(NotReleased, match=r"has changed since its release \(any_number_is_doubled\)"):
        run(course)


def test_a_file_of_mistakes_in_a_folder_counts_too(course):
    folder = course / "solutions" / NAME
    before = exercise_versions(load(folder))
    (folder / "misconceptions").mkdir()
    (folder / "misconceptions" / "more.py").write_text(
        CATALOGUE.replace("adds_three", "adds_more").split('\n\n\n@misconception(of="square"')[0]
    )
    after = exercise_versions(load(folder))
    assert after["double"] != before["double"]
    assert after["square"] == before["square"]


def test_a_mark_by_hand_over_points_that_changed_is_named(course, capsys):
    change(course, ("assert_close(double(number), 2 * number)", "assert double(number) > number"))
    run(course)
    with MarkBook(course, NAME) as marks:
        assert marks.to_look_at_again() == {"bob": ["any_number_is_doubled"]}
    assert list(marked_by_hand({"bob": ["any_number_is_doubled"]}))[1:] == ["  bob: any_number_is_doubled"]
    assert list(marked_by_hand({})) == []


def test_a_mark_by_hand_over_points_that_are_the_same_needs_no_other_look(course):
    change(course, ("assert_equal(square(3), 9)", "assert square(3) in (9, 27)"))
    run(course)
    with MarkBook(course, NAME) as marks:
        assert marks.to_look_at_again() == {}


def test_the_word_prints_the_changes(course, capsys):
    change(course, ("assert_equal(square(3), 9)", "assert square(3) in (9, 27)"))
    assert (
        main(
            ["grade", NAME, "--submissions", str(course / "submitted"), "--root", str(course), "--jobs", "1"]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "Examined again, for so many students: square (4)." in out
    assert "  cleo  3 → 5  (+2)  square 0 → 2" in out
