"""A student fills new parameters as they like: that must not keep a mistake in their class from its name."""

from pathlib import Path

import pytest
import torch

from autograder.checking.examine import run_checks
from autograder.checking.matching import diagnosis
from autograder.source.homework import references
from autograder.source.loading import load
from course.checks import LocalLink

SOLUTIONS = Path(__file__).parents[2] / "solutions"
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
                torch.nn.init.normal_(parameter)

    return Own


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_whatever_the_first_weights_are(name):
    homework = load(SOLUTIONS / name)
    right = references(homework)
    known = {entry.name: entry for entry in homework.misconceptions}
    for exercise, mistake in MISTAKES[name].items():
        visible = {check.name for check in homework.checks if check.exercise == exercise and not check.hidden}
        link = LocalLink(right | {exercise: filled_otherwise(known[mistake].thing)})
        traces = [done.trace for done in run_checks(homework, link, only=visible)]
        assert diagnosis(traces, [known[mistake]], right) == (mistake,)
