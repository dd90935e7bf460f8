"""A constant is no answer, whatever it is asked."""

from pathlib import Path

import pytest
import torch

from autograder.checking.examine import FAILED, run_checks
from autograder.source.loading import find
from course.checks import LocalLink

ROOT = Path(__file__).resolve().parents[2]
# Each was passed by a constant: by a dictionary of one entry, and by a sparse matrix.
CHECKS = {"the_probabilities_after_a_context_sum_to_one", "contexts_have_n_minus_1_tokens"}
CONSTANTS = [{"a": 1}, {}, torch.eye(3), torch.eye(3).to_sparse(), [], [1.0], 0.0, 1.0, True, "", None]


@pytest.fixture(scope="module")
def homework():
    return find("hw1_language_models", ROOT)


@pytest.mark.parametrize("constant", CONSTANTS, ids=repr)
def test_a_constant_passes_no_check_that_asks_for_what_always_holds(homework, constant):
    things = {exercise.name: lambda *args, **kwargs: constant for exercise in homework.exercises}
    done = run_checks(homework, LocalLink(things), 7, only=CHECKS)
    assert {examined.check.name: examined.result for examined in done} == dict.fromkeys(CHECKS, FAILED)
