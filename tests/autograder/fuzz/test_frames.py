"""Whatever bytes arrive: plain values of exact types that take no more than they weigh, or a WireError."""

import contextlib
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from values import frame_of, frames, parts, values

from autograder.isolation import wire
from autograder.isolation.decoder import READERS
from course.checks.trace import Object, Thing

EXACT_TYPES = {
    *(type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range, slice),
    *(torch.Tensor, torch.dtype, np.ndarray, type(Ellipsis), Object, Thing, torch.Generator),
}
OF_A_TENSOR = 1_000  # bytes that its parts take in C++
OF_A_GENERATOR = 5_100
MOST_OF_A_WEIGHT = 6  # as many bytes of memory to each of the weight
UNWEIGHED = 30_000  # bytes, which a few odd things may take
MANY = 3_000


def taken(value):
    """How many bytes a value takes, about."""
    total = 0
    for part in parts(value):
        total += sys.getsizeof(part)
        if isinstance(part, torch.Tensor):
            total += OF_A_TENSOR + part.untyped_storage().nbytes()
        elif isinstance(part, torch.Generator):
            total += OF_A_GENERATOR
    return total


@given(frames)
def test_a_frame_is_a_value_or_a_wire_error(frame):
    try:
        value = wire.decode(frame)
    except wire.WireError:
        return
    assert {type(part) for part in parts(value)} <= EXACT_TYPES
    assert taken(value) <= MOST_OF_A_WEIGHT * wire.weight(frame) + UNWEIGHED


@given(values)
def test_what_arrived_can_be_sent_back_and_is_as_long(value):
    sent = wire.encode(wire.decode(wire.encode(value)))
    assert len(wire.encode(wire.decode(sent))) == len(sent)


SMALLEST = {
    "list": [],
    "tuple": {"tuple": []},
    "dict": {"dict": [[], []]},
    "set": {"set": []},
    "frozenset": {"frozenset": []},
    "complex": {"complex": [0.0, 0.0]},
    "range": {"range": [0]},
    "slice": {"slice": [0]},
    "dtype": {"dtype": "bool"},
    "ellipsis": {"ellipsis": 0},
    "thing": {"thing": ""},
    "object": {"object": [0, ""]},
    "generator": {"generator": 0},
}
OF_A_BUFFER = {"tensor": ["uint8", [], 0, False], "array": ["int8", [], 0], "bytes": 0}


@pytest.mark.parametrize("tag", [*SMALLEST, *OF_A_BUFFER])
def test_many_of_the_smallest_take_no_more_than_they_weigh(tag):
    trees, buffers = [SMALLEST.get(tag)] * MANY, []
    if tag in OF_A_BUFFER:
        content = OF_A_BUFFER[tag]
        trees = [{tag: [*content[:2], place, *content[3:]] if content else place} for place in range(MANY)]
        buffers = [b"1"] * MANY
    frame = frame_of(trees, buffers)
    with contextlib.suppress(wire.WireError):
        assert taken(wire.decode(frame)) <= MOST_OF_A_WEIGHT * wire.weight(frame)


def test_every_tag_is_tried():
    assert {*SMALLEST, *OF_A_BUFFER} == {*READERS, "list"}
