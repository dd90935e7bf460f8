"""An answer that repeats its first result for inputs of the same sizes fails a claim that students see."""

from pathlib import Path

import pytest
import torch
from torch import nn

from autograder.checking.examine import run_checks
from autograder.proving.first_answers import has_data, repeating_first
from autograder.source.homework import FAILED, references
from autograder.source.loading import load
from course.checks import LocalLink

SOLUTIONS = Path(__file__).parents[2] / "solutions"
LONG = {"story_log_probs"}  # which reads hundreds of stories in every call


def passes(homework, exercise):
    """Whether the repeated first answer passes all visible claims, though it was given data to forget."""
    right, scope = references(homework), homework.namespace()
    thing = repeating_first(right[exercise.name])
    visible = {check.name for check in exercise.checks if not check.hidden}
    link = LocalLink(right | {exercise.name: thing})
    done = run_checks(homework, link, None, only=visible, scope=scope)
    asked = [event for one in done for event in one.trace.events]
    return not any(one.result == FAILED for one in done) and any(has_data(e.args, e.kwargs) for e in asked)


@pytest.mark.parametrize(
    "name",
    [
        "hw0_exploring",
        "hw1_language_models",
        "hw3_recurrent",
        "hw4_attention",
        "hw5_transformer",
        "hw6_gpt",
        "hw7_bert_and_translation",
    ],
)
def test_a_claim_asks_twice_with_other_values(name):
    homework = load(SOLUTIONS / name)
    tried = [
        one
        for one in homework.exercises
        if not one.trained
        and one.name not in LONG
        and repeating_first(references(homework)[one.name]) is not None
    ]
    assert tried
    assert [one.name for one in tried if passes(homework, one)] == []


def test_other_values_of_the_same_sizes_get_the_first_answer():
    doubled = repeating_first(lambda x, n=2: n * x)
    ones = torch.ones(3)
    assert torch.equal(doubled(ones), 2 * ones)
    assert torch.equal(doubled(5 * ones), 2 * ones)
    assert torch.equal(doubled(torch.ones(4)), 2 * torch.ones(4))
    assert torch.equal(doubled(ones, n=3), 3 * ones)  # another setting has its own answer


def test_each_module_remembers_for_itself():
    layer = repeating_first(nn.Linear)
    one, other, x = layer(3, 2), layer(3, 2), torch.ones(1, 3)
    assert torch.equal(one(x), one(7 * x))
    assert not torch.equal(one(x), other(x))


def test_a_class_that_cannot_be_called_is_left_out():
    assert repeating_first(dict) is None
