"""Inside nbgrader a submission is judged in a process of its own, with the limits of a judge."""

import json

import pytest
from grading import NAME, new_course, solved
from warm_levels import warm_with

from autograder.grading import pool
from autograder.grading.paper import Paper
from autograder.grading.plan import plan_for
from autograder.isolation import Limits
from autograder.nbgrader.judge import CouldNotJudge, judged, require_verdicts

HUGE = """
import torch

def moving_average(values, width):
    return torch.zeros(7_500_000, dtype=torch.float64)
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return new_course(tmp_path_factory.mktemp("judged") / "course")


@pytest.fixture(scope="module")
def judge(course):
    """A function that judges one notebook in 40 MB beyond what every judge has."""
    plan, warm = plan_for(NAME, course, Limits()), warm_with(Limits())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "MEMORY_OF_A_JUDGE", 40 << 20)
        yield lambda notebook: judged(Paper("ada", json.dumps(notebook).encode()), plan, warm)


def test_a_right_answer_needs_little(course, judge):
    assert judge(solved(course)).record.points == 4


def test_answers_that_exhaust_the_judge_are_too_large_to_be_examined(course, judge):
    record = judge(solved(course, HUGE)).record
    [exercise] = record.exercises
    assert record.points == 0
    assert "The result is too large to be examined." in exercise.checks[0].message


def test_a_notebook_that_exhausts_the_judge_costs_that_submission_alone(course, judge):
    greedy = solved(course)
    greedy["metadata"]["lists"] = [[] for _ in range(2_000_000)]  # 8 MB of JSON, and far more as objects
    graded = judge(greedy)
    assert graded.record.problem == (
        "This submission could not be judged: the process that judged it used more than 40 MB of memory."
    )
    with pytest.raises(CouldNotJudge, match="used more than 40 MB of memory"):
        require_verdicts(graded)
    assert judge(solved(course)).record.points == 4
