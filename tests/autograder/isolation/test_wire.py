"""Values cross unchanged, and nothing but values does."""

import collections
import json
import math
import pickle
import random
import struct

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.isolation import wire
from autograder.isolation.plain_data import MAX_BRACKETS, MOST_GENERATORS
from course.checks.plain import ARRAY_DTYPES, TENSOR_DTYPES
from course.checks.request import MOST_OBJECTS
from course.checks.trace import Object, Thing


def frame(tree, *buffers):
    """A frame written by hand, without the encoder."""
    text = json.dumps(tree).encode()
    lengths = struct.pack(f"<{len(buffers)}Q", *map(len, buffers))
    return struct.pack("<II", len(text), len(buffers)) + lengths + text + b"".join(buffers)


def crossed(value):
    return wire.decode(wire.encode(value))


hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4),
    max_leaves=5,
)
plain = st.recursive(
    hashable | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.sets(hashable, max_size=4)
    ),
    max_leaves=20,
)


def types_in(value):
    if isinstance(value, dict):
        return [dict, [(types_in(key), types_in(item)) for key, item in value.items()]]
    if isinstance(value, list | tuple):
        return [type(value), *map(types_in, value)]
    return type(value)


@given(plain)
@settings(max_examples=150, deadline=None, database=None)
def test_plain_values_arrive_equal_and_of_the_same_types(value):
    arrived = crossed(value)
    assert arrived == value
    assert types_in(arrived) == types_in(value)


@pytest.mark.parametrize("name", sorted(TENSOR_DTYPES))
def test_tensors_of_every_dtype_arrive_bit_for_bit(name):
    tensor = torch.arange(-6, 6).reshape(3, 4).to(getattr(torch, name))
    arrived = crossed(tensor)
    assert type(arrived) is torch.Tensor
    assert arrived.dtype == tensor.dtype
    assert torch.equal(arrived, tensor)


@pytest.mark.parametrize("name", sorted(ARRAY_DTYPES))
def test_arrays_of_every_dtype_arrive_bit_for_bit(name):
    array = np.arange(12).reshape(3, 4).astype(name)
    arrived = crossed(array)
    assert type(arrived) is np.ndarray
    assert arrived.dtype == array.dtype
    assert np.array_equal(arrived, array)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.0),
        torch.empty(0, 5),
        torch.arange(6.0).reshape(2, 3).T,
        torch.ones(3).expand(4, 3),
        torch.tensor(3.0).expand(1),
        torch.tensor([math.nan, math.inf, -0.0]),
        torch.tensor([1 + 2j]).conj(),
    ],
)
def test_unusual_tensors_keep_shape_and_bytes(tensor):
    arrived = crossed(tensor)
    assert arrived.shape == tensor.shape
    assert arrived.numpy().tobytes() == tensor.resolve_conj().contiguous().numpy().tobytes()


def test_subclasses_arrive_as_what_they_extend():
    Pair = collections.namedtuple("Pair", "first second")
    counts = collections.Counter("abca")
    grouped = collections.defaultdict(list, a=[1])
    assert [type(crossed(value)) for value in (counts, grouped, Pair(1, 2))] == [dict, dict, tuple]
    assert crossed(counts) == {"a": 2, "b": 1, "c": 1}
    assert type(crossed(torch.nn.Parameter(torch.ones(2)))) is torch.Tensor
    assert crossed(torch.ones(2, 3).max(dim=1))[1].tolist() == [0, 0]


def test_odd_but_plain_values_cross():
    for value in (slice(1, None, 2), range(5, 0, -2), Ellipsis, torch.bfloat16, "\ud800", -(2**200), True):
        assert crossed(value) == value
        assert type(crossed(value)) is type(value)


def test_the_state_of_a_generator_is_believed_only_where_that_is_asked_for():
    generator = torch.Generator().manual_seed(7)
    torch.rand(5, generator=generator)
    sent = wire.encode(generator)
    arrived = wire.decode(sent, generators=True)
    assert torch.equal(torch.rand(3, generator=arrived), torch.rand(3, generator=generator))
    fresh = wire.decode(sent)
    assert type(fresh) is torch.Generator
    assert torch.equal(fresh.get_state(), torch.Generator().get_state())


def test_requiring_gradients_survives():
    for wanted in (True, False):
        assert crossed(torch.ones(2, requires_grad=wanted)).requires_grad is wanted


@pytest.mark.parametrize("value", [object(), lambda: 0, torch.nn.Linear(1, 1), json, iter([1])])
def test_what_is_not_plain_data_is_not_written_down(value):
    with pytest.raises(wire.Unencodable):
        wire.encode(value)


def test_what_contains_itself_is_refused_rather_than_followed():
    loop = []
    loop.append(loop)
    with pytest.raises(wire.Unencodable, match="nested"):
        wire.encode(loop)


def test_references_are_values_of_their_own_types():
    assert [(type(value), value) for value in crossed([Object(3), Thing("a")])] == [
        (Object, Object(3)),
        (Thing, Thing("a")),
    ]
    assert crossed(Object(3, "x" * 1000)).kind == "x" * 100


def test_more_parts_than_may_arrive_are_not_sent():
    for value in ([[] for _ in range(MAX_BRACKETS)], [b"x"] * (1 << 17), "x" * (9 << 20)):
        with pytest.raises(wire.Unencodable, match="too many parts"):
            wire.encode(value)


def test_numbers_in_text_weigh_what_they_take_as_objects():
    assert wire.weight(wire.encode([0] * 1000)) > 64_000
    assert wire.weight(wire.encode(b"," * 1000)) < 1200


HOSTILE = {
    "empty": b"",
    "no json": frame({})[:8] + b"x",
    "pickle": pickle.dumps([1]),
    "unknown tag": frame({"pickle": "gASVBQAAAAAAAABLAS4="}),
    "two tags": frame({"tuple": [], "set": []}),
    "no tag": frame({}),
    "deep list": frame(json.loads("[" * 90 + "]" * 90)),
    "very deep json": struct.pack("<II", 200_000, 0) + b"[" * 200_000,
    "deep tuples": frame(json.loads('{"tuple":[' * 99 + "]}" * 99)),
    "tree longer than the frame": struct.pack("<II", 1 << 20, 0) + b"1",
    "more buffers than allowed": struct.pack("<II", 1, 1 << 30) + b"1",
    "length overflow": struct.pack("<IIQQ", 1, 2, 2**64 - 1, 2) + b"1",
    "trailing bytes": frame(1) + b"x",
    "object dtype": frame({"array": ["object", [1], 0]}, b"12345678"),
    "text dtype": frame({"array": ["<U8", [1], 0]}, b"12345678"),
    "quantised dtype": frame({"tensor": ["qint8", [1], 0, False]}, b"1"),
    "dtype by attribute": frame({"dtype": "load"}),
    "negative size": frame({"tensor": ["uint8", [-1, -2], 0, False]}, b"12"),
    "size is a truth value": frame({"tensor": ["uint8", [True], 0, False]}, b"1"),
    "size is no number": frame({"tensor": ["uint8", ["1"], 0, False]}, b"1"),
    "huge empty shape": frame({"tensor": ["uint8", [1 << 62, 1 << 62, 0], 0, False]}, b""),
    "wide empty shape": frame({"tensor": ["uint8", [10**8 + 1, 0], 0, False]}, b""),
    "wide empty array": frame({"array": ["uint8", [0, 1 << 39], 0]}, b""),
    "range without an end": frame({"range": [0, 2**62, 1]}),
    "range backwards": frame({"range": [10**7, 0, -1]}),
    "too few bytes": frame({"tensor": ["float64", [1000, 1000], 0, False]}, b"1" * 8),
    "too many dimensions": frame({"tensor": ["uint8", [1] * 1000, 0, False]}, b"1"),
    "buffer that is not there": frame({"bytes": 3}),
    "buffer from the end": frame({"bytes": -1}, b"1"),
    "one buffer many times": frame([{"bytes": 0}, {"bytes": 0}], b"1" * 100),
    "dictionary of unhashable keys": frame({"dict": [[[1]], [1]]}),
    "dictionary of unequal sides": frame({"dict": [[1, 2], [1]]}),
    "range of text": frame({"range": ["a"]}),
    "complex of text": frame({"complex": ["1", "2"]}),
    "slice of four": frame({"slice": [1, 2, 3, 4]}),
    "reference": frame({"object": ["object", 0]}),
    "reference without a number": frame({"object": [True, "a"]}),
    "name of a number": frame({"thing": 1}),
    "too many references": frame([{"object": [0, ""]}] * (2 * MOST_OBJECTS + 1)),
    "too many generators": frame([{"generator": 0}] * (MOST_GENERATORS + 1)),
    "number of too many digits": struct.pack("<II", 10_000, 0) + b"9" * 10_000,
    "too many parts": frame([[] for _ in range(MAX_BRACKETS)]),
    "not utf-8": struct.pack("<II", 3, 0) + b'"\xff"',
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_frames_are_refused(hostile):
    with pytest.raises(wire.WireError):
        wire.decode(hostile)


def test_keys_that_all_hash_alike_are_refused_before_the_dictionary_is_built():
    colliding = [n * (2**61 - 1) for n in range(1, 3000)]
    assert len(set(map(hash, colliding))) == 1
    for tree in ({"dict": [colliding, colliding]}, {"set": colliding}):
        with pytest.raises(wire.WireError, match="collide"):
            wire.decode(frame(tree))


def test_a_truth_value_made_of_another_byte_is_a_truth_value_all_the_same():
    arrived = wire.decode(frame({"tensor": ["bool", [2], 0, False]}, b"\x07\x00"))
    assert arrived.view(torch.uint8).tolist() == [1, 0]
    assert wire.decode(frame({"array": ["bool", [2], 0]}, b"\x07\x00")).view(np.uint8).tolist() == [1, 0]


EXACT_TYPES = {
    *(type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range, slice),
    *(torch.Tensor, torch.dtype, np.ndarray, type(Ellipsis), Object, Thing, torch.Generator),
}


def every_part(value):
    yield value
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from every_part(part)


def test_thousands_of_damaged_frames_give_plain_values_or_a_wire_error():
    generator = random.Random(0)
    sample = [
        {"a": (1, 2.5, None), (1, "b"): {3, 4}},
        [torch.arange(6.0).reshape(2, 3), np.ones((2, 2), dtype=np.int16), b"bytes", "text"],
        (frozenset({1}), slice(1, 2), range(3), 1j, torch.float32, True),
    ]
    whole = [wire.encode(value) for value in sample]
    refused = 0
    for _ in range(6000):
        damaged = bytearray(generator.choice(whole))
        for _ in range(generator.randint(1, 4)):
            position = generator.randrange(len(damaged))
            action = generator.random()
            if action < 0.6:
                damaged[position] = generator.choice(b'{}[]":,0123456789-eEtfn\x00\xff')
            elif action < 0.8:
                del damaged[position : position + generator.randint(1, 9)]
            else:
                damaged[position:position] = generator.randbytes(generator.randint(1, 9))
            damaged = damaged or bytearray(b"\x00")
        try:
            value = wire.decode(bytes(damaged))
        except wire.WireError:
            refused += 1
            continue
        for part in every_part(value):
            assert type(part) in EXACT_TYPES
    assert 1000 < refused < 6000
