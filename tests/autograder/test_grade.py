"""A folder of submissions ends in records, notebooks and marks; a second run does only what is missing."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from grading import NAME, RIGHT, SHORT, catalogue, named, new_course, released, solved, submit
from nbformat import from_dict
from nbgrader.api import Gradebook
from nbgrader.utils import determine_grade, is_grade

from autograder.grade import grade, not_importable
from autograder.grading import paper
from autograder.grading.clerk import Clerk, interrupts_wait
from autograder.grading.plan import plan_for
from autograder.grading.redaction import DOES_NOT_HOLD
from autograder.grading.submission import not_run
from autograder.marks.database import GradebookUnavailable
from autograder.marks.records import RecordFolder, read_homework
from autograder.source.notebook import SourceError
from autograder.source.released import NotReleased

pytestmark = pytest.mark.usefixtures("one_warm_process")

HANG = "def moving_average(values, width):\n    while True:\n        pass"
LEAVE = "import os\n\ndef moving_average(values, width):\n    os._exit(0)"
TELL_TALE = """
seen = []

class SeenInputs(Exception):
    pass

def moving_average(values, width):
    seen.append(values)
    print(values)
    raise SeenInputs(str(values))
"""
FORBIDDEN = """
from statistics import mean

def moving_average(values, width):
    return [mean(values[i : i + width]) for i in range(len(values) - width + 1)]
"""


def grade_course(course, **options):
    return grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=2, **options)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("course") / "course")
    answers = {
        "right": RIGHT,
        **catalogue("misconceptions"),
        **catalogue("alternatives"),
        "hangs": HANG,
        "leaves": LEAVE,
        "tells": TELL_TALE,
        "forbidden": FORBIDDEN,
    }
    for student, answer in answers.items():
        submit(course, student, solved(course, answer))
    submit(course, "untouched", released(course))
    submit(course, "broken", '{"cells": [')
    (course / "submitted" / "absent").mkdir()
    return course


@pytest.fixture(scope="module")
def graded(course):
    record = grade_course(course)
    return {submission.student: submission for submission in record.submissions}


def check_results(submission):
    return [check.result for exercise in submission.exercises for check in exercise.checks]


def messages(submission, hidden):
    checks = [check for exercise in submission.exercises for check in exercise.checks]
    return [check.message for check in checks if check.hidden is hidden]


@pytest.mark.parametrize("student", ["right", *catalogue("alternatives")])
def test_right_answers_get_every_point_and_no_name(graded, student):
    assert graded[student].points == graded[student].max_points == 4
    assert graded[student].exercises[0].diagnosis == ()


@pytest.mark.parametrize(
    ("student", "points"),
    [("divides_by_all", 1), ("forgets_the_last_window", 0), ("width_is_always_three", 2)],
)
def test_a_known_mistake_costs_what_its_checks_are_worth_and_is_named(graded, student, points):
    assert graded[student].points == points
    assert graded[student].exercises[0].diagnosis == (student,)


def test_a_stub_earns_nothing_and_is_told_so_kindly(graded):
    assert graded["untouched"].points == 0
    assert all("is not written yet" in message for message in messages(graded["untouched"], hidden=False))


def test_what_cannot_be_read_is_no_failure(graded):
    assert graded["broken"].status == "could_not_run"
    assert graded["broken"].problem == "The notebook ends abruptly in line 1: the file is incomplete."
    assert set(check_results(graded["broken"])) == {"could_not_run"}


def test_a_student_without_a_submission_has_a_record_and_no_marks(course, graded):
    assert graded["absent"].problem == f"Not handed in: absent/ holds no directory {NAME}; it is empty."
    assert "absent" not in marks(course)


def test_a_hang_is_told_with_its_limit(graded):
    assert messages(graded["hangs"], hidden=False)[0] == "`moving_average` did not finish within 1.5 s."


def test_an_exit_is_told(graded):
    assert "exited with status 0" in messages(graded["leaves"], hidden=False)[0]


def test_forbidden_calls_are_reported_with_their_line(graded):
    assert graded["forbidden"].flags == ("`moving_average` uses `statistics.mean` in line 5.",)
    assert graded["forbidden"].points == 0


def test_visible_messages_say_what_was_raised(graded):
    assert "raised SeenInputs" in messages(graded["tells"], hidden=False)[0]


def test_hidden_messages_hold_nothing_that_the_student_wrote(graded):
    assert messages(graded["tells"], hidden=True) == [DOES_NOT_HOLD]


def marks(course):
    """Each student's points for the checks, as nbgrader's gradebook has them."""
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        return {
            submission.student.id: submission.notebooks[0].code_score
            for submission in gradebook.assignment_submissions(NAME)
        }


def grades_of(course, student):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, student)
        return {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades}


def test_the_gradebook_has_the_points_of_the_records(course, graded):
    expected = {student: record.points for student, record in graded.items() if student != "absent"}
    assert marks(course) == expected


def test_words_wait_for_a_person_and_no_words_are_worth_nothing(course, graded):
    assert grades_of(course, "right")["why_smooth"] == (None, True)
    assert grades_of(course, "untouched")["why_smooth"] == (0.0, False)


def test_what_could_not_be_run_waits_for_a_person(course, graded):
    assert set(grades_of(course, "broken").values()) == {(None, True)}


def test_nbgrader_reads_the_same_points_off_the_autograded_notebook(course, graded):
    path = course / "autograded" / "divides_by_all" / NAME / f"{NAME}.ipynb"
    cells = [from_dict(cell) for cell in json.loads(path.read_text())["cells"]]
    for cell in cells:
        cell.source = "".join(cell.source)
    read = sum(determine_grade(cell)[0] or 0 for cell in cells if is_grade(cell))
    assert read == graded["divides_by_all"].points


def test_the_comment_on_an_answer_names_the_mistake(course, graded):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        comment = gradebook.find_comment("moving_average", NAME, NAME, "divides_by_all").comment
    assert comment.startswith("The sum of each window is divided by the number of all values.")
    assert "How many numbers did you add up" in comment


def test_isolation_and_versions_are_recorded(course, graded):
    record = read_homework(course / "grades" / f"{NAME}.json")
    assert record.isolation["level"] in ("bwrap", "landlock")
    assert {"python", "torch", "nbgrader"} <= record.versions.keys()
    assert record.graded_by_hand == {"why_smooth": 3}
    assert all(submission.isolation == record.isolation["level"] for submission in graded.values())


def seeds(course):
    return {record.student: record.seed for record in RecordFolder(course / "grades", NAME).all()}


@pytest.fixture(scope="module")
def three_students(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("three") / "course")
    for student in ("ada", "bob", "cleo"):
        submit(course, student, solved(course))
    return course


@pytest.fixture
def small_course(three_students, tmp_path):
    return shutil.copytree(three_students, tmp_path / "course")


def test_a_second_run_does_only_what_is_missing(small_course):
    grade_course(small_course)
    before = seeds(small_course)
    submit(small_course, "bob", solved(small_course, "def moving_average(values, width):\n    return []"))
    submit(small_course, "dana", solved(small_course))
    after = {record.student: record for record in grade_course(small_course).submissions}
    assert {student for student, record in after.items() if before.get(student) != record.seed} == {
        "bob",
        "dana",
    }
    assert marks(small_course) == {"ada": 4, "bob": 0, "cleo": 4, "dana": 4}


def test_what_is_missing_in_the_gradebook_is_done_again(small_course):
    grade_course(small_course)
    before = seeds(small_course)
    with Gradebook(f"sqlite:///{small_course}/gradebook.db") as gradebook:
        gradebook.find_grade("moving_average-check", NAME, NAME, "ada").auto_score = 0.0
        gradebook.db.commit()
        gradebook.remove_submission(NAME, "bob")
    (small_course / "autograded" / "cleo" / NAME / f"{NAME}.ipynb").unlink()
    grade_course(small_course)
    assert all(before[student] != seed for student, seed in seeds(small_course).items())
    assert marks(small_course) == {"ada": 4, "bob": 4, "cleo": 4}


def test_again_grades_everything_again(small_course):
    grade_course(small_course)
    before = seeds(small_course)
    grade_course(small_course, again=True)
    assert all(before[student] != seed for student, seed in seeds(small_course).items())


def test_points_given_by_hand_stay(small_course):
    grade_course(small_course)
    with Gradebook(f"sqlite:///{small_course}/gradebook.db") as gradebook:
        words = gradebook.find_grade("why_smooth", NAME, NAME, "ada")
        words.manual_score, words.needs_manual_grade = 2.5, False
        gradebook.find_comment("why_smooth", NAME, NAME, "ada").manual_comment = "Well said."
        gradebook.db.commit()
    grade_course(small_course, again=True)
    with Gradebook(f"sqlite:///{small_course}/gradebook.db") as gradebook:
        words = gradebook.find_grade("why_smooth", NAME, NAME, "ada")
        assert (words.manual_score, words.score, words.needs_manual_grade) == (2.5, 2.5, False)
        assert gradebook.find_comment("why_smooth", NAME, NAME, "ada").comment == "Well said."


def test_stopping_keeps_what_is_finished(small_course, monkeypatch):
    save = Clerk.save
    saved = []

    def stop_at_the_second(clerk, submission, graded):
        if saved:
            raise KeyboardInterrupt
        saved.append(submission.student)
        save(clerk, submission, graded)

    monkeypatch.setattr(Clerk, "save", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        grade_course(small_course)
    monkeypatch.undo()
    kept = read_homework(small_course / "grades" / f"{NAME}.json").submissions
    assert [record.student for record in kept] == saved
    finished = grade_course(small_course).submissions
    assert len(finished) == 3
    assert kept[0] in finished


def test_a_judge_that_dies_is_no_zero_and_is_tried_again(small_course, monkeypatch):
    judge = paper.grade_submission

    def die_on_bob(student, *arguments):
        if student == "bob":
            os._exit(3)
        return judge(student, *arguments)

    monkeypatch.setattr(paper, "grade_submission", die_on_bob)
    bob = grade_course(small_course).submissions[1]
    assert (bob.student, bob.status) == ("bob", "could_not_run")
    assert bob.problem.startswith("The grader failed here")
    assert set(grades_of(small_course, "bob").values()) == {(None, True)}
    monkeypatch.undo()
    assert grade_course(small_course).submissions[1].points == 4


def test_global_random_numbers_are_a_submissions_own_whoever_was_judged_before(small_course, monkeypatch):
    plan, drawn = plan_for(NAME, small_course, SHORT), []

    def draw(student, *_):
        drawn.append((random.random(), np.random.rand(), torch.rand(1).item()))
        return not_run(student, "only drawn", plan)

    monkeypatch.setattr(paper, "grade_submission", draw)
    for seed in (1, 2, 1):
        paper.mark(paper.Paper("ada", b"{}", seed=seed), plan, "none", None)
    assert drawn[0] == drawn[2]
    assert not set(drawn[0]) & set(drawn[1])


def test_an_unreleased_homework_is_refused_with_the_command_to_run(small_course):
    (small_course / "gradebook.db").unlink()
    with pytest.raises(NotReleased, match=f"was never released .*autograder release {NAME}"):
        grade_course(small_course)


def test_a_homework_that_changed_since_its_release_is_refused(small_course):
    notebook = small_course / "solutions" / NAME / f"{NAME}.ipynb"
    content = json.loads(notebook.read_text())
    named(content, "moving_average-check")["metadata"]["nbgrader"]["points"] = 5
    notebook.write_text(json.dumps(content))
    with pytest.raises(NotReleased, match=r"has changed since its release \(moving_average-check\)"):
        grade_course(small_course)


def test_a_gradebook_that_is_no_database_is_said_to_be_none(small_course):
    (small_course / "gradebook.db").write_bytes(b"not a database" * 100)
    with pytest.raises(GradebookUnavailable, match="cannot be used"):
        grade_course(small_course)


def test_the_json_file_holds_the_same_record(small_course, tmp_path):
    record = grade_course(small_course, json_file=tmp_path / "marks.json")
    assert read_homework(tmp_path / "marks.json") == record
    assert replace(record, submissions=()) != record


def test_a_folder_that_is_no_course_is_refused_by_name_and_nothing_is_made(tmp_path):
    with pytest.raises(SourceError, match=f"{tmp_path} has no homework"):
        grade("hw99", tmp_path / "submitted", root=tmp_path)
    assert list(tmp_path.iterdir()) == []


def pressed(times, done):
    with interrupts_wait():
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        done.append(times)


@pytest.fixture
def ctrl_c_is_heard():
    """A shell starts what runs in its background with Ctrl-C ignored, these tests perhaps among it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_waits_until_a_student_is_entered_and_a_second_one_does_not():
    done = []
    for times in (0, 1, 2):
        with pytest.raises(KeyboardInterrupt) if times else nullcontext():
            pressed(times, done)
    assert done == [0, 1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_module_is_kept_out_of_an_import_and_of_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "kept_out_for_a_while.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with not_importable("kept_out_for_a_while"), pytest.raises(ImportError):
        import kept_out_for_a_while
    import kept_out_for_a_while

    with not_importable("kept_out_for_a_while"):
        import kept_out_for_a_while as again
    assert again is kept_out_for_a_while is sys.modules["kept_out_for_a_while"]


def test_opening_the_gradebook_leaves_every_module_importable(three_students):
    code = (
        "import sys; from pathlib import Path; from autograder.grade import mark_book\n"
        f"with mark_book(Path({str(three_students)!r}), {NAME!r}, None): pass\n"
        "assert not [name for name, module in sys.modules.items() if module is None]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
