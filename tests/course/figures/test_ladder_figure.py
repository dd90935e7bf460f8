"""The ladder to explore says what the course's own measures say."""

from dataclasses import dataclass

import pytest
from in_node import evaluate, needs_node

from course import figures
from course.evaluation import Score
from course.ladder import summaries
from course.ladder.climb import Result


@dataclass(frozen=True)
class Measured:
    title: str
    n_parameters: int
    bits_per_token: float
    spread: float
    seconds: float


RUNGS = (
    Measured("uniform", 1, 7.32, 0.0, 0.1),
    Measured("trigram", 90_000, 2.5, 0.01, 2.0),
    Measured("RNN", 40_000, 2.1, 0.05, 60.0),
    Measured("LSTM", 120_000, 1.9, 0.05, 90.0),
    Measured("Transformer", 110_000, 1.5, 0.01, 80.0),
)


@needs_node
def test_the_distance_above_the_floor_is_that_of_the_evaluation(tmp_path):
    expression = "data.rungs.map((rung) => figure.standing(rung, data.rungs, data.floor))"
    found = evaluate(figures.ladder(RUNGS, 1.47), expression, tmp_path)
    for rung, told in zip(RUNGS, found, strict=True):
        expected = Score(rung.bits_per_token, 1).percent_above(Score(1.47, 1))
        assert told["percent"] == pytest.approx(expected)
    assert [told["way"] for told in found] == sorted(told["way"] for told in found)
    assert found[0]["way"] == 0


@needs_node
def test_the_green_line_leaves_out_what_is_dearer_and_worse(tmp_path):
    figure = figures.ladder(RUNGS, 1.47)
    assert evaluate(figure, "figure.frontier(data.rungs, 'parameters')", tmp_path) == [0, 2, 4]
    assert evaluate(figure, "figure.frontier(data.rungs, 'seconds')", tmp_path) == [0, 1, 2, 4]


def test_what_the_ladder_records_can_be_shown():
    runs = [
        Result("gru", "GRU", seed, 1000, bits, 1.47, 0.01, 3.0, 3.0) for seed, bits in ((0, 2.0), (1, 2.2))
    ]
    (rung,) = figures.ladder(summaries(runs), 1.47).data["rungs"]
    assert rung == {"title": "GRU", "parameters": 1000, "bits": 2.1, "spread": 0.2, "seconds": 3.0}


def test_a_rung_under_the_floor_is_refused_with_a_question():
    with pytest.raises(ValueError, match="has this model seen the test stories"):
        figures.ladder([Measured("cheat", 1, 0.9, 0.0, 1.0)], 1.47)
