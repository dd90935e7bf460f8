"""A fixed check or changed points touch their own exercise, keep what a person did, and say who changes."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace

import pytest
from grading import ROOT, SHORT
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from autograder.checking.versions import exercise_versions
from autograder.cli import main
from autograder.grade import grade
from autograder.grading import paper, plan, pool
from autograder.making.release import release
from autograder.marks.changes import changes, examined_again, in_words, marked_by_hand
from autograder.marks.exports.marks import marks_of
from autograder.marks.gradebook import MarkBook
from autograder.marks.records import RecordFolder, read_homework
from autograder.marks.settings import course_config
from autograder.reporting.report import report
from autograder.sample.demo import make_course
from autograder.software import software
from autograder.source.loading import load
from autograder.source.released import NotReleased
from autograder.source.sample_submissions import answered, hand_in, reference_answers
from autograder.words.grading import TO_MARK

pytestmark = pytest.mark.usefixtures("one_warm_process")

NAME = "two_exercises"
SOURCE = '''\
# %% [markdown]
# # Two

# %% setup

# %% provided="imports"
from course.checks import assert_close, assert_equal

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


# %% check="any_number_is_doubled" points=2 hidden
def any_number_is_doubled(double, draw):
    """Any number is doubled."""
    number = draw.number(1, 2)
    assert_close(double(number), 2 * number)


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


# %% [markdown] written="why" points=3 minutes=1
# Why?
#
# ### BEGIN SOLUTION
# Because.
# ### END SOLUTION

# %% alive="it_doubles"
print(double(2))
'''
CATALOGUE = '''\
"""What goes wrong."""

from autograder.catalogue import misconception


@misconception(of="double")
def adds_three(number):
    """Three is added.

    What is one doubled?
    """
    return number + 3


@misconception(of="square")
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
        mark = gradebook.find_grade("double-hidden", NAME, NAME, "bob")
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


def one_after_the_other(tasks, work, **options):
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
    assert examined_again(before.values(), after.values()) == {"`square`": 4}
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
        assert gradebook.find_grade("double-hidden", NAME, NAME, "ada").auto_score == 4
        assert gradebook.find_submission(NAME, "ada").max_score == 10
    shown = json.loads((course / "autograded" / "ada" / NAME / f"{NAME}.ipynb").read_text())
    points = [
        cell["metadata"]["nbgrader"].get("points") for cell in shown["cells"] if cell["id"] == "double-hidden"
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
        assert gradebook.find_grade("double-hidden", NAME, NAME, "bob").manual_score == 0.5
        comment = gradebook.find_comment("double", NAME, NAME, "bob")
        assert comment.manual_comment == "A good try."
        assert comment.auto_comment is None  # what only a hidden check shows is for whoever teaches
    assert records(course)["bob"].exercises[0].diagnosis == ("adds_three",)


def test_a_mistake_that_is_described_anew_is_looked_for_again_in_its_exercise(course, judged):
    change(course, ("The number is doubled.", "Twice the number is given."), file="misconceptions.py")
    run(course)
    assert names_examined(judged) == {student: {"square"} for student in ("ada", "bob", "cleo")}


def test_what_all_checks_rest_on_regrades_everything(course, judged):
    change(course, ("import assert_close, assert_equal", "import assert_equal, assert_close"))
    run(course)
    assert {frozenset(names) for names, _ in judged.values()} == {frozenset({"double", "square"})}


def test_a_check_edited_after_its_release_is_graded_with_and_named(course, capsys, monkeypatch):
    path = course / "solutions" / NAME / f"{NAME}.py"
    path.write_text(path.read_text().replace("assert_equal(square(3), 9)", "assert square(3) in (9, 27)"))
    monkeypatch.setattr("autograder.grade.Limits", lambda: SHORT)
    words = ["grade", NAME, "--submissions", f"{course / 'submitted'}", "--root", f"{course}", "--jobs", "1"]
    assert main(words) == 0
    said = (
        f"solutions/{NAME} was edited after its release: 1 cell differs (square-check). "
        "Marks follow the new version, but students have the old one; "
        f"`autograder release {NAME}` gives them the new one."
    )
    assert f"Note: {said}" in capsys.readouterr().out
    assert records(course)["cleo"].points == 5
    assert read_homework(course / "grades" / f"{NAME}.json").notes == (said,)
    assert said.replace("`", "") in re.sub("</?code>|`", "", report(NAME, course).read_text())
    release(course, NAME)
    assert main(words) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Note: ")]
    assert notes == [f"Note: {TO_MARK.format(count='1 student')}"]
    assert read_homework(course / "grades" / f"{NAME}.json").notes == ()


def test_looking_for_what_is_due_reads_each_file_once_and_draws_no_seed(course, monkeypatch):
    reads = Counter()
    read = paper.read
    monkeypatch.setattr(paper, "read", lambda path: reads.update([path.parts[-3]]) or read(path))
    monkeypatch.setattr(paper.secrets, "randbits", lambda bits: pytest.fail("a seed was drawn"))
    run(course)
    assert reads == dict.fromkeys(("ada", "bob", "cleo", "dan"), 1)


def test_a_homework_that_was_never_built_is_refused_with_the_command_that_builds_it(course):
    (course / "solutions" / NAME / f"{NAME}.ipynb").unlink()
    with pytest.raises(NotReleased, match=f"does not exist. Run `autograder release {NAME}`"):
        run(course)


def test_nobody_is_accused_after_a_corrected_release_but_who_changed_a_check(course, monkeypatch):
    cleos = course / "submitted" / "cleo" / NAME / f"{NAME}.ipynb"
    cleos.write_text(cleos.read_text().replace("assert_equal(double(3), 6)", "pass"))
    change(
        course,
        ("assert_equal(square(3), 9)", "assert square(3) in (9, 27)"),
        ('check="any_number_is_doubled" points=2', 'check="any_number_is_doubled" points=4'),
    )
    after = run(course)
    flags = {student: record.flags for student, record in after.items() if record.flags}
    assert flags == {"cleo": ("Changed by the student and restored: 1 cell (double-check).",)}
    notes = {student: record.notes for student, record in after.items() if record.notes}
    old = "Made from an earlier release; brought up to date: 3 cells (double-statement, double-hidden, "
    assert notes == dict.fromkeys(("ada", "bob", "cleo"), (f"{old}square-check).",))
    shown = (course / "autograded" / "ada" / NAME / f"{NAME}.ipynb").read_text()
    assert "Made from an earlier release" in shown
    assert "by the student" not in shown
    page = report(NAME, course).read_text()
    assert "<h2>Made from another release</h2>" in page
    assert page.count("Changed by the student") == 2  # in the list and with cleo
    monkeypatch.chdir(course)  # as the instructor's terminal
    done = NbGraderAPI(config=course_config(course)).generate_feedback(NAME)
    assert done["success"], done
    feedback = {who: (course / "feedback" / who / NAME / f"{NAME}.html").read_text() for who in notes}
    assert all("Made from an earlier release" in page for page in feedback.values())
    assert [who for who, page in feedback.items() if "Changed by the student" in page] == ["cleo"]


def test_a_change_that_was_not_released_is_refused(course):
    path = course / "solutions" / NAME / f"{NAME}.py"
    path.write_text(path.read_text().replace("points=2 hidden", "points=9 hidden"))
    with pytest.raises(NotReleased, match=r"has changed since its release \(double-hidden\)"):
        run(course)


@pytest.mark.parametrize(
    ("part", "version", "said"),
    [("grader", "older", "the grader"), ("torch", "0.1", "torch"), ("numpy", "0.1", "numpy")],
)
def test_everything_is_examined_again_after_an_upgrade_and_it_is_said_why(
    course, judged, monkeypatch, part, version, said
):
    before = records(course)
    monkeypatch.setattr(plan, "software", lambda: software() | {part: version})
    after = run(course)
    assert names_examined(judged) == {student: {"double", "square"} for student in ("ada", "bob", "cleo")}
    assert all(judged[student][1] == before[student].seed for student in ("ada", "bob", "cleo"))
    assert list(in_words(before.values(), after.values())) == [
        f"Re-examined, because {said} changed: 4 students.",
        "No mark changed.",
    ]
    judged.clear()
    run(course)
    assert judged == {}


def test_records_of_a_grader_that_named_no_conditions_are_examined_again(course, judged):
    folder = RecordFolder(course / "grades", NAME)
    for record in folder.all():
        folder.add(replace(record, conditions={}))
    before = records(course)
    said = list(in_words(before.values(), run(course).values()))
    assert said[0] == "Re-examined, because the grader changed: 4 students."
    assert set(judged) == set(before)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limits": replace(SHORT, cpu_seconds=60)}, "the limits"),
        ({"forbidden_costs_points": False}, "the cost of a forbidden call"),
    ],
)
def test_other_limits_or_another_price_regrade_everything_and_are_named(course, judged, options, said):
    before = records(course)
    after = grade(NAME, course / "submitted", root=course, jobs=1, **{"limits": SHORT, **options}).submissions
    assert set(judged) == set(before)
    assert next(in_words(before.values(), after)) == f"Re-examined, because {said} changed: 4 students."


def test_a_file_beside_the_source_regrades_everything_and_what_bears_on_no_verdict_nothing(course):
    folder = course / "solutions" / NAME
    before = exercise_versions(load(folder))
    for name in ("README.md", "alternatives.py", "earlier_releases.json", "fails.tsv"):
        (folder / name).write_text('"""Read by people."""\n')
    assert exercise_versions(load(folder)) == before
    (folder / "prices.csv").write_text("1,2\n")
    after = exercise_versions(load(folder))
    assert all(after[name] != before[name] for name in before)


HELPED = """\
def doubled_by(helper, number):
    return helper(number)


def twice_twice(number):
    return doubled_by(double, number)
"""


def test_a_reference_that_a_check_reaches_through_a_provided_function_regrades_it(course):
    path = course / "solutions" / NAME / f"{NAME}.py"
    with_help = path.read_text().replace(
        '# %% [markdown] exercise="double"',
        f'# %% provided="help"\n{HELPED}\n\n# %% [markdown] exercise="double"',
        1,
    )
    versions = []
    for body in ("assert_equal(square(3), 9)", "assert_equal(twice_twice(3), 6)"):
        for solution in ("return 2 * number", "return number + number"):
            path.write_text(
                with_help.replace("assert_equal(square(3), 9)", body).replace(
                    "    return 2 * number\n    ### END", f"    {solution}\n    ### END"
                )
            )
            versions.append(exercise_versions(load(path.parent)))
    apart, changed, through_help, and_changed = versions
    assert apart["double"] != changed["double"]
    assert apart["square"] == changed["square"]
    assert through_help["square"] != and_changed["square"]


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
        assert marks.to_look_at_again() == {"bob": ["double-hidden"]}
    assert not any(mark.waits_for_a_person for mark in marks_of(course, NAME) if mark.student == "bob")
    assert list(marked_by_hand({"bob": ["double-hidden"]}))[1:] == ["  bob: double-hidden"]
    assert list(marked_by_hand({})) == []


def test_a_preview_names_marks_by_hand_that_stay(course, capsys):
    change(course, ("assert_close(double(number), 2 * number)", "assert double(number) > number"))
    words = ["grade", NAME, "--submissions", str(course / "submitted"), "--root", str(course), "--preview"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "bob  " in out
    assert "marks by hand would stay, whatever the checks give:\n  bob: double-hidden\n" in out


def test_a_mark_by_hand_over_points_that_are_the_same_needs_no_other_look(course):
    change(course, ("assert_equal(square(3), 9)", "assert square(3) in (9, 27)"))
    run(course)
    with MarkBook(course, NAME) as marks:
        assert marks.to_look_at_again() == {}


def test_the_word_prints_the_changes(course, capsys, monkeypatch):
    monkeypatch.setattr("autograder.grade.Limits", lambda: SHORT)  # as when it was graded first
    change(course, ("assert_equal(square(3), 9)", "assert square(3) in (9, 27)"))
    assert (
        main(
            ["grade", NAME, "--submissions", str(course / "submitted"), "--root", str(course), "--jobs", "1"]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "Re-examined, because `square` changed: 4 students." in out
    assert "  cleo  3 → 5  (+2)  square 0 → 2" in out
