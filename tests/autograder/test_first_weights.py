"""A student fills new parameters as they like: that must not keep a mistake in their class from its name."""

import json
from pathlib import Path

import pytest
import torch

from autograder.checking.examine import run_checks
from autograder.checking.matching import diagnosis
from autograder.source.homework import FAILED, references
from autograder.source.loading import load
from course.checks import LocalLink, fingerprints
from course.checks.diagnosis import candidates

ROOT = Path(__file__).parents[2]
SOLUTIONS, SHIPPED = ROOT / "solutions", ROOT / "course" / "checks" / "fingerprints"
MISTAKES = {
    "hw3_recurrent": {
        "RNN": "FirstStateIgnored",
        "StackedRNN": "OneFirstStateForAllLayers",
        "LSTMCell": "GatesInTheOrderIFOG",
        "GRUCell": "UpdateGateTheOtherWayRound",
    },
    "hw4_attention": {
        "Encoder": "StateAtThePadding",
        "Decoder": "SummaryNotUsed",
        "AttentionDecoder": "StateNotCarried",
    },
    "hw6_gpt": {"GPT": "PositionsForgotten"},
}


def filled_otherwise(mistake):
    """The same class, whose new parameters hold other numbers."""

    class Own(mistake):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            for parameter in self.parameters():
                torch.nn.init.normal_(parameter, std=0.02)

    return Own


def mistakes_in_the_notebook(name, seen):
    """The mistakes that the shipped fingerprints explain the results by."""
    checks = json.loads((SHIPPED / f"{name}.json").read_text(encoding="utf-8"))["checks"]
    failed = {done.check.name for done in seen if done.result == FAILED}
    answers = {done.check.name: fingerprints.known(checks[done.check.name]) for done in seen}
    return candidates({done.check.name: done.trace for done in seen}, failed, answers)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_whatever_the_first_weights_are(name):
    homework = load(SOLUTIONS / name)
    right = references(homework)
    known = {entry.name: entry for entry in homework.misconceptions}
    for exercise, mistake in MISTAKES[name].items():
        visible = {check.name for check in homework.checks if check.exercise == exercise and not check.hidden}
        link = LocalLink(right | {exercise: filled_otherwise(known[mistake].thing)})
        seen = run_checks(homework, link, only=visible)
        traces = [done.trace for done in seen]
        assert diagnosis(traces, [known[mistake]], right) == (mistake,)
        assert mistakes_in_the_notebook(name, seen) == [mistake]
