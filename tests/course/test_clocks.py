"""The clocks measure what they name; nothing here depends on how fast this machine is."""

import json
from typing import get_args

import pytest
import torch

from course import clocks
from course.clocks import LENGTHS, Kind, forward, main, milliseconds, read_recorded, slope

SHAPES = {"attention": (1, 5, 64), "looking": (1, 5, 192)}
CPU = torch.device("cpu")


def test_a_power_of_the_length_is_its_slope():
    assert slope({10: 3.0, 20: 6.0}, 10, 20) == pytest.approx(1)
    assert slope({n: 0.1 * n**2 for n in (8, 64)}, 8, 64) == pytest.approx(2)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_pass_reads_a_text_of_the_length_asked_for(kind):
    result = forward(kind, 5, CPU)()
    out = result if isinstance(result, torch.Tensor) else result[0]
    assert out.shape == SHAPES.get(kind, (1, 5, out.shape[-1]))


def test_the_shortest_of_the_calls_is_kept():
    called = []
    assert milliseconds(lambda: called.append(1), CPU, n_calls=4) >= 0
    assert len(called) == 4


def test_the_record_has_every_length_of_every_kind():
    assert {kind: tuple(curve) for kind, curve in read_recorded().items()} == LENGTHS


@pytest.mark.parametrize(
    ("kind", "first", "last", "power"),
    [("rnn", 512, 2048, 1), ("attention", 512, 2048, 2), ("reading", 64, 256, 1), ("looking", 64, 256, 2)],
)
def test_recorded_time_grows_with_the_power_of_the_length_that_the_lectures_name(kind, first, last, power):
    assert slope(read_recorded()[kind], first, last) == pytest.approx(power, abs=0.25)


def test_for_short_texts_attention_is_faster_and_its_time_grows_slower_than_in_proportion():
    clock = read_recorded()
    assert clock["attention"][32] < clock["rnn"][32]
    assert slope(clock["attention"], 32, 64) < 1


def test_a_record_has_the_shortest_and_the_longest_round_and_the_load(tmp_path, monkeypatch):
    rounds = [{kind: {4: value} for kind in get_args(Kind)} for value in (3.0, 5.0, 2.0)]
    monkeypatch.setattr(clocks, "measured", lambda device, n: rounds[:n])
    main(["--to", str(tmp_path / "clocks.json"), "--rounds", "3"])
    record = json.loads((tmp_path / "clocks.json").read_text())
    assert record["rounds"] == 3
    assert record["load"].keys() == {"cores", "before", "after"}
    assert record["milliseconds"]["rnn"] == {"4": 2.0}
    assert record["milliseconds_of_the_slowest_round"]["rnn"] == {"4": 5.0}
    assert read_recorded(tmp_path / "clocks.json")["looking"] == {4: 2.0}


def test_a_round_measures_every_length_of_every_kind_once(monkeypatch):
    monkeypatch.setattr(clocks, "LENGTHS", dict.fromkeys(get_args(Kind), (2, 3)))
    rounds = clocks.measured(CPU, 2)
    assert [{kind: list(curve) for kind, curve in each.items()} for each in rounds] == [
        {kind: [2, 3] for kind in get_args(Kind)}
    ] * 2
