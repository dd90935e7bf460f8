"""The clocks measure what they name; nothing here depends on how fast this machine is."""

from typing import get_args

import pytest
import torch

from course.clocks import LENGTHS, Kind, forward, milliseconds, read_recorded, slope

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
