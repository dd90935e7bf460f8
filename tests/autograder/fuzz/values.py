"""Values that a student's process may send, honest and odd, and the frames in which they come."""

import json
import math
import struct

import numpy as np
import torch
from hypothesis import strategies as st

from autograder.isolation import wire
from autograder.isolation.decoder import READERS
from course.checks.plain import ARRAY_DTYPES, TENSOR_DTYPES
from course.checks.trace import Object, Thing

POWERS = [0, 31, 53, 63, 64, 1000, 2000, 14_000]  # JSON reads no number of more digits than the last has
FLOATS = [0.0, -0.0, 1.5, 1e-320, 1e308, -1e308, math.inf, -math.inf, math.nan]
TEXTS = ["", "a", "\ud800", "\x1b[2J", "\u202e", "<script>", "=1+1", "a\nb", "é" * 30, "`" * 9]
PIECES = [b"[", b"{", b"\xff" * 8]
SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (0,), (0, 2), (1, 1, 1), (2, 3, 4), (1,) * 20, (0, 10**7)]

large = st.builds(
    lambda power, more, sign: sign * (2**power + more),
    st.sampled_from(POWERS),
    st.integers(-1, 1),
    st.sampled_from([1, -1]),
)
integers = large | st.integers()
texts = st.sampled_from(TEXTS) | st.text(max_size=8) | st.integers(1, 3000).map("x".__mul__)
anywhere = st.integers(0, 10**6)  # taken modulo the number of places, which Python's hashes may change
scalars = st.none() | st.booleans() | integers | st.sampled_from(FLOATS) | st.floats() | texts


@st.composite
def tensors(draw):
    """Of any dtype and shape; some hold what is no number, or need gradients."""
    shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from([*TENSOR_DTYPES.values()]))
    numbers = draw(st.lists(st.sampled_from(FLOATS) | st.integers(-9, 9).map(float), min_size=1, max_size=6))
    flat = torch.tensor(numbers, dtype=torch.float64).repeat(math.prod(shape) // len(numbers) + 1)
    tensor = flat[: math.prod(shape)].reshape(shape).to(dtype)
    return tensor.requires_grad_() if tensor.is_floating_point() and draw(st.booleans()) else tensor


@st.composite
def arrays(draw):
    tensor, name = draw(tensors()), draw(st.sampled_from([*ARRAY_DTYPES]))
    real = tensor.detach().to(torch.complex128).numpy()
    with np.errstate(all="ignore"):
        return (real if name.startswith("complex") else real.real).astype(name)


odd = st.one_of(
    tensors(),
    tensors(),
    arrays(),
    st.complex_numbers(),
    st.binary(max_size=5),
    st.builds(range, st.integers(-5, 5), st.integers(-5, 5), st.sampled_from([1, -1, 3])),
    st.builds(slice, integers | st.none(), integers | st.none()),
    st.sampled_from([Ellipsis, *TENSOR_DTYPES.values()]),
    st.builds(torch.Generator),
    st.builds(Object, st.integers(0, 3) | integers, texts),
    st.builds(Thing, texts | st.just("moving_average")),
)
keys = st.recursive(
    scalars | st.binary(max_size=3) | st.builds(Object, st.integers(0, 3)) | tensors() | st.just(torch.int8),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
values = st.recursive(
    scalars | odd,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
        st.sets(keys, max_size=4),
        st.frozensets(keys, max_size=4),
    ),
    max_leaves=8,
)

tags = st.sampled_from([*READERS, "pickle", ""])
trees = st.recursive(
    scalars | st.sampled_from(sorted(TENSOR_DTYPES)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(tags, inner, min_size=1, max_size=1),
        st.dictionaries(tags | texts, inner, max_size=3),
    ),
    max_leaves=10,
)


def places(tree):
    """Each container of a tree with each of its keys or indices."""
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from places(tree[key])


@st.composite
def changed_trees(draw, contents):
    """What an honest process would write, of which a few places are something else."""
    tree, buffers = draw(contents)
    tree = json.loads(json.dumps([tree]))
    for _ in range(draw(st.integers(0, 3))):
        everywhere = [*places(tree)]
        container, key = everywhere[draw(anywhere) % len(everywhere)]
        other, its = everywhere[draw(anywhere) % len(everywhere)]
        copied = json.loads(json.dumps(other[its]))
        container[key] = draw(trees) if draw(st.booleans()) else copied
    return tree[0], buffers


def frame_of(tree, buffers):
    """The frame of a tree that an encoder may never have written."""
    text = json.dumps(tree).encode("utf-8", "surrogatepass")
    lengths = struct.pack(f"<{len(buffers)}Q", *map(len, buffers))
    return struct.pack("<II", len(text), len(buffers)) + lengths + text + b"".join(buffers)


@st.composite
def changed_frames(draw, contents):
    """A frame of a changed tree, the bytes of which may be cut, doubled or changed as well."""
    frame = bytearray(frame_of(*draw(changed_trees(contents))))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        place, length = draw(anywhere) % (len(frame) + 1), draw(st.integers(0, 9))
        frame[place : place + length] = draw(st.binary(max_size=9) | st.sampled_from(PIECES))
    return bytes(frame)


frames = changed_frames(values.map(wire.content)) | st.binary(max_size=60)


def parts(value):
    """A value and everything inside it."""
    yield value
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, slice):
        value = [value.start, value.stop, value.step]
    if isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from parts(part)
