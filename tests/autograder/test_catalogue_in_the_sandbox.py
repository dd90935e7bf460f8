"""The first homework's catalogue, handed in: in the sandbox too, each mistake is caught and named."""

import json
from itertools import zip_longest
from pathlib import Path

import pytest

from autograder.homework import find
from autograder.isolation import Limits, Warm, choose
from autograder.plan import plan_for
from autograder.sample_submissions import answered, as_answer, reference_answers, released
from autograder.submission import grade_submission

ROOT = Path(__file__).resolve().parents[2]
NAME = "hw1_language_models"
LIMITS = Limits()
HOMEWORK = find(NAME, ROOT)


@pytest.fixture(scope="module")
def plan():
    return plan_for(NAME, ROOT, LIMITS)


@pytest.fixture(scope="module")
def graded(plan):
    """Grade a notebook with these answers, the reference's elsewhere: graded({exercise: text}, student)."""
    built = json.loads((ROOT / "solutions" / NAME / f"{NAME}.ipynb").read_text())
    start, right = released(built), reference_answers(plan.homework)
    with Warm(choose("best"), LIMITS) as warm:

        def run(answers, seed=1):
            data = json.dumps(answered(start, right | answers)).encode()
            record = grade_submission("student", data, plan, warm.student, seed).record
            return {exercise.name: exercise for exercise in record.exercises}

        yield run


def rows(kind):
    """The catalogue in as few submissions as it takes: each has an entry of every exercise with one left."""
    entries = [
        [entry for entry in getattr(HOMEWORK, kind) if entry.of == exercise.name]
        for exercise in HOMEWORK.exercises
    ]
    return [[entry for entry in row if entry is not None] for row in zip_longest(*entries)]


@pytest.mark.parametrize("row", rows("alternatives"), ids=lambda row: f"{len(row)} alternatives")
def test_no_alternative_solution_loses_a_point(graded, row):
    exercises = graded({entry.of: as_answer(entry) for entry in row})
    lost = {
        name: exercise.checks for name, exercise in exercises.items() if exercise.points < exercise.max_points
    }
    assert lost == {}


@pytest.mark.parametrize("row", rows("misconceptions"), ids=lambda row: f"{len(row)} misconceptions")
def test_every_misconception_fails_as_declared_and_is_named(graded, row):
    exercises = graded({entry.of: as_answer(entry) for entry in row})
    for entry in row:
        found = exercises[entry.of]
        failed = {check.name for check in found.checks if check.result != "passed"}
        assert (entry.name, failed) == (entry.name, set(entry.fails))
        assert entry.name in found.diagnosis, entry.name
        equals = {other.name for other in HOMEWORK.misconceptions if entry.name in other.equals}
        assert set(found.diagnosis) <= {entry.name, *entry.equals, *equals}
