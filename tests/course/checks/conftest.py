"""A small invented exercise, attention weights from scores, with its right and its wrong solutions."""

from types import SimpleNamespace

import pytest
import torch

from course.checks import LocalLink, assert_close, examine, homework, replay
from course.checks.fingerprints import Sealed, differing, written


def reference(scores):
    return scores.softmax(-1)


def softmax_over_queries(scores):
    """The softmax runs over the queries, so each key's column sums to one.

    Which axis of `scores` lists the alternatives that one query chooses between?
    """
    return scores.softmax(-2)


def no_exponential(scores):
    """The scores are divided by their sum, without an exponential.

    What becomes of a negative score?
    """
    return scores / scores.sum(-1, keepdim=True)


def changes_the_scores(scores):
    """The scores are changed in place.

    Who else may still need them?
    """
    scores -= scores.max(-1, keepdim=True).values
    return scores.softmax(-1)


def each_row_sums_to_one(attention_weights, draw):
    """Each query's weights sum to one."""
    weights = attention_weights(draw.normal(2, 5, 3))
    assert_close(weights.sum(-1), torch.ones(2, 5, dtype=torch.float64))


def larger_scores_weigh_exponentially_more(attention_weights, draw):
    """A weight is proportional to the exponential of its score."""
    scores = draw.normal(2, 5, 3)
    exponentials = scores.exp()
    assert_close(attention_weights(scores), exponentials / exponentials.sum(-1, keepdim=True))


def the_scores_are_left_alone(attention_weights, draw):
    """The scores are the same afterwards."""
    attention_weights(draw.normal(2, 5, 3))


CLAIMS = (each_row_sums_to_one, larger_scores_weigh_exponentially_more, the_scores_are_left_alone)
MISTAKES = (softmax_over_queries, no_exponential, changes_the_scores)


def answers(claim, mistake) -> list[Sealed]:
    wrong = examine(claim, LocalLink({"attention_weights": mistake})).trace
    return differing(wrong, replay(wrong, {"attention_weights": reference}))


def about(mistake) -> dict:
    diagnosis, question = mistake.__doc__.split("\n\n")
    return {"diagnosis": diagnosis, "question": question.strip()}


def fingerprints() -> dict:
    """What the builder ships to students about this exercise."""
    checks = {}
    for claim in CLAIMS:
        found = {mistake.__name__: answers(claim, mistake) for mistake in MISTAKES}
        checks[claim.__name__] = {
            "exercise": "attention_weights",
            "points": 1,
            "claim": claim.__doc__,
            "right": [],
            "answers": {name: written(fingerprint, []) for name, fingerprint in found.items() if fingerprint},
        }
    exercise = {
        "hints": ["Say aloud what one row of the weights means.", "Which axis holds the keys?"],
        "forbids": ["torch.nn.functional.scaled_dot_product_attention", "torch.softmax"],
        "misconceptions": {mistake.__name__: about(mistake) for mistake in MISTAKES},
    }
    return {"homework": "toy", "exercises": {"attention_weights": exercise}, "checks": checks}


@pytest.fixture(scope="session")
def toy() -> SimpleNamespace:
    """The exercise: its claims, its right and its wrong solutions, by name, and their fingerprints."""
    return SimpleNamespace(
        **{thing.__name__: thing for thing in (*CLAIMS, *MISTAKES, reference)},
        claims=CLAIMS,
        mistakes=MISTAKES,
        fingerprints=fingerprints(),
    )


@pytest.fixture
def check(toy):
    """A fresh session of the homework."""
    return homework("toy", fingerprints=toy.fingerprints)
