"""A cell in which parts come alive is the student's to change; no grader runs or restores it."""

import json
from dataclasses import replace

import pytest
from grading import MINI, RIGHT, SHORT
from warm_levels import warm_with

from autograder.grading.judge import judge
from autograder.grading.plan import Plan
from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.loading import load
from autograder.source.notebook import Cell
from autograder.source.released import source_cells
from autograder.source.sample_submissions import answered, released
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import repair

ENDLESS = "moving_average = None\nwhile True:\n    pass"


@pytest.fixture(scope="module")
def homework():
    mini = load(MINI)
    return replace(mini, cells=(*mini.cells, Cell("code", ENDLESS, {"alive": "the_curve"})))


@pytest.fixture(scope="module")
def built(homework):
    return build_homework(homework, Address("https://example.org/course", "v1"))


def handed_in(built, change=lambda cells: None):
    content = answered(released(built), {"moving_average": RIGHT})
    change({cell["id"]: cell for cell in content["cells"]})
    return repair(parse(json.dumps(content).encode()).cells, source_cells(built))


def test_students_may_change_it(built):
    cell = next(cell for cell in built["cells"] if cell["id"] == "the_curve")
    settings = cell["metadata"]["nbgrader"]
    assert [settings[name] for name in ("locked", "solution", "grade")] == [False] * 3


@pytest.mark.parametrize("text", [ENDLESS, "print('what I tried')"])
def test_what_students_make_of_it_is_kept_and_not_flagged(built, text):
    repaired = handed_in(built, lambda cells: cells["the_curve"].update(source=text))
    assert repaired.flags == ()
    assert repaired.cell("the_curve").source == text


def test_one_that_is_missing_is_put_back_without_a_flag(built):
    content = answered(released(built), {"moving_average": RIGHT})
    content["cells"] = [cell for cell in content["cells"] if cell["id"] != "the_curve"]
    repaired = repair(parse(json.dumps(content).encode()).cells, source_cells(built))
    assert (repaired.flags, repaired.cell("the_curve").source) == ((), ENDLESS)


def test_it_costs_the_grader_no_time_and_the_student_no_point(homework, built):
    plan = Plan(homework, source_cells(built), SHORT)
    judgement = judge(plan, handed_in(built), warm_with(SHORT).student, seed=1)
    assert [check.result for check in judgement.exercises[0].checks] == ["passed"] * 3
    assert not any("time" in flag for flag in judgement.flags)
