"""What the grader is given of the attempts, and what it tells; of every homework."""

import json
from dataclasses import replace
from unittest.mock import Mock

import pytest
from grading import MINI

from autograder.making.products import build_homework
from autograder.marks.records import CheckRecord, ExerciseRecord, RecordFolder, SubmissionRecord
from autograder.reporting.feedback import NEVER
from autograder.serving.attempts import Attempts, Pace
from autograder.serving.handout import Handout
from autograder.serving.inbox import AttemptInbox, written_answers
from autograder.source.address import Address
from autograder.source.homework import TEXT_STUB
from autograder.source.loading import load
from autograder.source.released import source_cells
from autograder.submissions.handed_in import HandedCell
from autograder.submissions.repair import repair

SOURCE = load(MINI)
NAMES = ("first", "second")
NOTEBOOK = b'{"nbformat": 4, "cells": []}'


@pytest.fixture
def inbox(tmp_path):
    attempts = Attempts(f"sqlite:///{tmp_path}/serve.db")
    return AttemptInbox(attempts, tmp_path / "submitted", tmp_path / "grades")


def record(points):
    checks = (CheckRecord("averages_are_right", True, "failed", "secret 0.123"),)
    exercise = ExerciseRecord("moving_average", points, 4.0, checks=checks)
    return SubmissionRecord("ada", points, 4.0, "graded", exercises=(exercise,))


def keep(inbox, name, points):
    RecordFolder(inbox.records, name).add(record(points))
    return RecordFolder(inbox.records, name).find("ada")


def test_an_attempt_is_given_once_as_a_submission_with_its_time(inbox):
    inbox.attempts.hand_in("ada", "first", NOTEBOOK, Pace())
    assert [one.student for one in inbox.arrived("first")] == ["ada"]
    assert inbox.arrived("first") == []
    [found] = inbox.all("first")
    assert found.path.read_bytes() == NOTEBOOK
    assert found.timestamp
    assert inbox.attempts.of("ada", "first")[0].judged is None
    inbox.give_back(found, keep(inbox, "first", 2.0), replace(SOURCE, name="first"))
    assert inbox.attempts.of("ada", "first")[0].judged is not None


@pytest.mark.parametrize("has_begun", [False, True], ids=["a grader that starts", "a grader at work"])
def test_who_handed_in_first_is_judged_first(inbox, has_begun):
    if has_begun:
        inbox.arrived("first")
    names = ["cleo", "ada", "dan", "bob"]
    for name in names:
        inbox.attempts.hand_in(name, "first", NOTEBOOK, Pace())
    assert [one.student for one in inbox.arrived("first")] == names


def test_who_waits_comes_before_what_lies_there(inbox):
    inbox.attempts.hand_in("zoe", "first", NOTEBOOK, Pace())
    [found] = inbox.arrived("first")
    inbox.give_back(found, keep(inbox, "first", 2.0), replace(SOURCE, name="first"))
    inbox.attempts.tell("first", "zoe", inbox.attempts.told("first", "ada"), 1)
    inbox.attempts.hand_in("eve", "first", NOTEBOOK, Pace())
    again = AttemptInbox(inbox.attempts, inbox.folder, inbox.records)
    assert [one.student for one in again.arrived("first")] == ["eve", "zoe"]


def test_an_attempt_before_its_turn_lies_there_and_is_not_given(inbox):
    inbox.arrived("first")
    for word in (b"1", b"2"):
        inbox.attempts.hand_in("ada", "first", NOTEBOOK + word, Pace(seconds_between=60.0))
    inbox.arrived("first")
    assert inbox.all("first")[0].path.read_bytes() == NOTEBOOK + b"2"
    assert inbox.arrived("first") == []


def test_a_regrading_is_told_of_every_homework(inbox):
    for name in NAMES:
        inbox.attempts.hand_in("ada", name, NOTEBOOK, Pace())
        [found] = inbox.arrived(name)
        inbox.give_back(found, keep(inbox, name, 2.0), replace(SOURCE, name=name))
        assert "<b>2 of 4</b>" in inbox.attempts.told(name, "ada").whole
    for name in NAMES:
        keep(inbox, name, 3.0)
        inbox.arrived(name)
    assert ["<b>3 of 4</b>" in inbox.attempts.told(name, "ada").whole for name in NAMES] == [True, True]


def test_a_page_without_hidden_checks_holds_neither_their_words_nor_the_points(inbox):
    inbox.attempts.hand_in("ada", "first", NOTEBOOK, Pace())
    [found] = inbox.arrived("first")
    kept = keep(inbox, "first", 2.0)
    inbox.give_back(found, kept, replace(SOURCE, name="first"))
    told = inbox.attempts.told("first", "ada")
    assert "2 of 4" not in told.visible
    assert "secret" not in told.visible + told.whole
    assert "are shown after the due date" in told.visible
    assert "are not shown here" in replace(inbox, later=NEVER).words(kept, SOURCE).visible


def test_a_submission_that_could_not_be_run_is_told_why_once(inbox):
    inbox.attempts.hand_in("ada", "first", NOTEBOOK, Pace())
    [found] = inbox.arrived("first")
    RecordFolder(inbox.records, "first").add(
        replace(record(0.0), status="failed", problem="It is a picture.")
    )
    kept = RecordFolder(inbox.records, "first").find("ada")
    inbox.give_back(found, kept, replace(SOURCE, name="first"))
    told = inbox.attempts.told("first", "ada")
    assert [page.count("It is a picture.") for page in (told.visible, told.whole)] == [1, 1]
    assert '<ul class="checks">' not in told.visible + told.whole


def test_an_exercise_that_holds_is_folded_and_one_that_does_not_is_open(inbox):
    inbox.attempts.hand_in("ada", "first", NOTEBOOK, Pace())
    [found] = inbox.arrived("first")
    kept = keep(inbox, "first", 2.0)
    inbox.give_back(found, kept, replace(SOURCE, name="first"))
    assert "<details>" not in inbox.attempts.told("first", "ada").whole
    [exercise] = kept.exercises
    [check] = exercise.checks
    right = replace(exercise, checks=(replace(check, result="passed", message=""),))
    inbox.give_back(found, replace(kept, exercises=(right,)), replace(SOURCE, name="first"))
    page = inbox.attempts.told("first", "ada").whole
    assert page.count("<details>") == page.count("</details>") == 1


@pytest.mark.parametrize(
    ("below", "is_answered"),
    [(TEXT_STUB, False), ("", False), (f"{TEXT_STUB}\n\nNoise.", True), ("![](attachment:a.png)", True)],
)
def test_the_grader_and_the_website_agree_on_what_is_no_answer(tmp_path, below, is_answered):
    notebook = build_homework(SOURCE, Address("https://example.org/course", "v1"))
    [question] = [cell for cell in source_cells(notebook) if cell.role == "written"]
    text = question.released.replace(TEXT_STUB, below)
    cell = {"cell_type": "markdown", "source": text, "metadata": {"nbgrader": question.nbgrader}}
    path = tmp_path / "autograded.ipynb"
    path.write_text(json.dumps({"cells": [cell]}))
    asked = Handout("", cells={question.name: question.released})
    assert written_answers(path, SOURCE, asked) == {question.name: text if is_answered else ""}
    repaired = repair(
        [HandedCell("markdown", text, question.name, nbgrader=question.nbgrader)], source_cells(notebook)
    )
    assert repaired.cell(question.name).is_untouched is not is_answered


def test_what_could_not_be_run_is_no_answer_to_mark(inbox):
    inbox.attempts.hand_in("ada", "first", NOTEBOOK, Pace())
    [found] = inbox.arrived("first")
    RecordFolder(inbox.records, "first").add(replace(record(0.0), status="could_not_run"))
    path = inbox.folder.parent / "autograded" / "ada" / "first" / "first.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text('{"cells": []}')
    answered = Mock()
    inbox.rubrics.answered = answered
    inbox.give_back(found, RecordFolder(inbox.records, "first").find("ada"), replace(SOURCE, name="first"))
    assert not answered.called
    inbox.give_back(found, record(0.0), replace(SOURCE, name="first"))
    assert answered.called
