"""JSON tree and bytes of arrays → values of exact types; nothing in them is trusted."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autograder.isolation.plain_data import (
    JSON_SCALARS,
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_EQUAL_HASHES,
    MOST_GENERATORS,
    WireError,
)
from course.checks.plain import ARRAY_DTYPES, TENSOR_DTYPES, checked_range, checked_shape
from course.checks.request import MOST_OBJECTS
from course.checks.trace import Object, Thing


class Reader:
    """Turns a JSON tree back into values."""

    def __init__(self, buffers: list[memoryview], generators: bool):
        self.buffers = dict(enumerate(buffers))
        self.generators = generators  # whether their states are trusted
        self.objects = 0
        self.n_generators = 0

    def value(self, tree: Any, depth: int) -> Any:
        if type(tree) in JSON_SCALARS:
            return tree
        if depth == 0:
            raise WireError(f"a value nested more than {MAX_DEPTH} levels deep")
        if type(tree) is list:
            return self.items(tree, depth - 1)
        ((tag, content),) = tree.items()
        return READERS[tag](self, content, depth - 1)

    def items(self, trees: Any, depth: int) -> list:
        if type(trees) is not list:
            raise WireError("a container without items")
        if JSON_SCALARS.issuperset(map(type, trees)):
            return trees
        return [tree if type(tree) in JSON_SCALARS else self.value(tree, depth) for tree in trees]

    def keys(self, trees: Any, depth: int) -> list:
        keys = self.items(trees, depth)
        if len(keys) > MAX_EQUAL_HASHES and max(Counter(map(hash, keys)).values()) > MAX_EQUAL_HASHES:
            raise WireError("keys chosen to collide")
        return keys

    def buffer(self, index: Any) -> bytearray:
        buffer = self.buffers.pop(index, None) if type(index) is int else None
        if buffer is None:
            raise WireError("a buffer that does not exist, or is used twice")
        return bytearray(buffer)

    def filled(self, content: list, dtypes: dict[str, Any]) -> tuple[Any, list[int], bytearray]:
        dtype, shape, buffer = dtypes[content[0]], content[1], self.buffer(content[2])
        if type(shape) is not list or len(shape) > MAX_DIMENSIONS:
            raise WireError("a shape with too many dimensions")
        count = 1
        for size in shape:
            if type(size) is not int or size < 0:
                raise WireError("a shape that no array has")
            count *= size
        checked_shape(shape)
        if count * dtype.itemsize != len(buffer):
            raise WireError("an array whose bytes do not fill its shape")
        return dtype, shape, buffer


def read_dict(reader: Reader, content: list, depth: int) -> dict:
    keys, values = content
    return dict(zip(reader.keys(keys, depth), reader.items(values, depth), strict=True))


def read_tensor(reader: Reader, content: list, depth: int) -> torch.Tensor:
    dtype, shape, buffer = reader.filled(content, TENSOR_DTYPES)
    if not buffer:
        tensor = torch.empty(shape, dtype=dtype)
    elif dtype is torch.bool:  # a byte other than 0 or 1 is not a boolean
        tensor = torch.frombuffer(buffer, dtype=torch.uint8).ne(0).reshape(shape)
    else:
        tensor = torch.frombuffer(buffer, dtype=dtype).reshape(shape)
    wanted = content[3] is True and (dtype.is_floating_point or dtype.is_complex)
    return tensor.requires_grad_() if wanted else tensor


def read_array(reader: Reader, content: list, depth: int) -> np.ndarray:
    dtype, shape, buffer = reader.filled(content, ARRAY_DTYPES)
    if not buffer:
        return np.empty(shape, dtype)
    if dtype.kind == "b":
        return (np.frombuffer(buffer, dtype=np.uint8) != 0).reshape(shape)
    return np.frombuffer(buffer, dtype=dtype).reshape(shape)


def read_complex(reader: Reader, content: list, depth: int) -> complex:
    real, imaginary = content
    if type(real) is not float or type(imaginary) is not float:
        raise WireError("a complex number with invalid parts")
    return complex(real, imaginary)


def read_generator(reader: Reader, content: Any, depth: int) -> torch.Generator:
    reader.n_generators += 1
    if reader.n_generators > MOST_GENERATORS:
        raise WireError("too many generators")
    generator, state = torch.Generator(), reader.value(content, depth)
    return generator.set_state(state) if reader.generators else generator


def read_range(reader: Reader, content: Any, depth: int) -> range:
    return checked_range(range(*content))


def read_object(reader: Reader, content: Any, depth: int) -> Object:
    index, kind = content
    reader.objects += 1
    if type(index) is not int or type(kind) is not str or reader.objects > 2 * MOST_OBJECTS:
        raise WireError("an invalid reference, or too many")
    return Object(index, kind[:100])


def read_thing(reader: Reader, content: Any, depth: int) -> Thing:
    if type(content) is not str:
        raise WireError("an invalid name")
    return Thing(content)


READERS: dict[str, Callable[[Reader, Any, int], Any]] = {
    "tuple": lambda reader, content, depth: tuple(reader.items(content, depth)),
    "dict": read_dict,
    "set": lambda reader, content, depth: set(reader.keys(content, depth)),
    "frozenset": lambda reader, content, depth: frozenset(reader.keys(content, depth)),
    "tensor": read_tensor,
    "array": read_array,
    "generator": read_generator,
    "bytes": lambda reader, content, depth: bytes(reader.buffer(content)),
    "complex": read_complex,
    "range": read_range,
    "slice": lambda reader, content, depth: slice(*reader.items(content, depth)),
    "dtype": lambda reader, content, depth: TENSOR_DTYPES[content],
    "ellipsis": lambda reader, content, depth: Ellipsis,
    "object": read_object,
    "thing": read_thing,
}
