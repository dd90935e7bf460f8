"""Values across the border between the grader and a student's process: plain data only, no pickle either way.

A frame is a tree in JSON followed by raw buffers:

    u32 bytes of tree | u32 buffers | u64 bytes of each buffer … | tree | buffers …

None, bool, int, float, str and list are JSON's own; everything else is an object with one key, its tag.
What cannot be written down is passed by reference, if the caller of `encode` knows how (`refer`).
The decoder trusts nothing: it builds exact types only and checks sizes, depth, dtypes and hash collisions.
"""

import json
import struct
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

MAX_DEPTH = 48
MAX_DIMENSIONS = 32
MAX_TREE_BYTES = 8 << 20
MAX_BRACKETS = 1 << 20  # two bytes of JSON can become a hundred of Python objects
MAX_BUFFERS = 1 << 16
MAX_EQUAL_HASHES = 64  # more keys than this with one hash are an attack on the dictionary

JSON_SCALARS = frozenset({type(None), bool, int, float, str})
TENSOR_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
    )
}
ARRAY_DTYPES = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}


class WireError(ValueError):
    """A frame that no honest encoder writes."""


class Unencodable(TypeError):
    """A value that is not plain data and may not be passed by reference."""


def encode(value: Any, refer: Callable[[Any], list] | None = None) -> bytes:
    """Write a value down as a frame.

    refer: turns anything that is not plain data into a reference, a list of JSON scalars.
    Raises Unencodable.
    """
    writer = Writer(refer)
    tree = json.dumps(writer.tree(value, MAX_DEPTH), separators=(",", ":")).encode()
    lengths = [len(buffer) for buffer in writer.buffers]
    head = struct.pack(f"<II{len(lengths)}Q", len(tree), len(lengths), *lengths)
    return b"".join((head, tree, *writer.buffers))


def decode(
    frame: bytes,
    resolve: Callable[[list], Any] | None = None,
    *,
    generators: bool = False,
    gradients: bool = False,
) -> Any:
    """Read a frame back into exact types: int, list, dict, torch.Tensor …

    resolve: turns a reference back into a value; without it references are refused.
    generators: whether the frame may hold a torch.Generator; only the grader may send one.
    gradients: whether a tensor that required gradients does so again.
    Raises WireError, and nothing else, whatever the bytes are.
    """
    try:
        tree, buffers = split(frame)
        return Reader(buffers, resolve, generators, gradients).value(json.loads(tree), MAX_DEPTH)
    except WireError:
        raise
    except (
        ValueError,
        TypeError,
        LookupError,
        OverflowError,
        RuntimeError,
        MemoryError,
        struct.error,
    ) as error:
        raise WireError(f"unreadable frame: {error}") from None


def split(frame: bytes) -> tuple[bytes, list[memoryview]]:
    """A frame's tree and its buffers; raises WireError where the lengths do not add up."""
    view = memoryview(frame)
    tree_bytes, count = struct.unpack_from("<II", view)
    if tree_bytes > MAX_TREE_BYTES or count > MAX_BUFFERS:
        raise WireError("a frame with too large a tree or too many buffers")
    lengths = struct.unpack_from(f"<{count}Q", view, 8)
    position = 8 + 8 * count + tree_bytes
    if position + sum(lengths) != len(view):
        raise WireError("a frame whose lengths do not add up")
    tree = bytes(view[8 + 8 * count : 8 + 8 * count + tree_bytes])
    if tree.count(b"[") + tree.count(b"{") > MAX_BRACKETS:
        raise WireError("a frame of too many parts")
    buffers = []
    for length in lengths:
        buffers.append(view[position : position + length])
        position += length
    return tree, buffers


class Writer:
    """Turns values into a JSON tree and puts the bytes of arrays aside."""

    def __init__(self, refer: Callable[[Any], list] | None):
        self.refer = refer
        self.buffers: list[bytes] = []

    def tree(self, value: Any, depth: int) -> Any:
        if type(value) in JSON_SCALARS:
            return value
        if depth == 0:
            raise Unencodable(f"a value nested more than {MAX_DEPTH} levels deep")
        for kind, write in WRITERS:
            if isinstance(value, kind):
                written = write(self, value, depth - 1)
                return self.reference(value) if written is None else written
        return self.reference(value)

    def reference(self, value: Any) -> dict:
        if self.refer is None:
            raise Unencodable(f"a {type(value).__name__} is not plain data")
        return {"object": self.refer(value)}

    def items(self, values: Iterable, depth: int) -> list:
        values = list(values)
        if JSON_SCALARS.issuperset(map(type, values)):
            return values
        return [self.tree(value, depth) for value in values]

    def aside(self, content: bytes) -> int:
        self.buffers.append(content)
        return len(self.buffers) - 1


def write_dict(writer: Writer, value: dict, depth: int) -> dict:
    return {"dict": [writer.items(dict.keys(value), depth), writer.items(dict.values(value), depth)]}


def write_tensor(writer: Writer, value: torch.Tensor, depth: int) -> dict | None:
    with torch._C.DisableTorchFunctionSubclass():
        name = str(value.dtype).removeprefix("torch.")
        if name not in TENSOR_DTYPES or value.layout is not torch.strided or value.is_meta:
            return None
        plain = value.detach().cpu().resolve_conj().resolve_neg()
        plain = plain.clone(memory_format=torch.contiguous_format)  # also for strides of zero
        content = plain.reshape(-1).view(torch.uint8).numpy().tobytes()
        return {"tensor": [name, list(value.shape), writer.aside(content), bool(value.requires_grad)]}


def write_array(writer: Writer, value: np.ndarray | np.generic, depth: int) -> dict | None:
    array = np.asarray(value)
    if array.dtype.name not in ARRAY_DTYPES:
        return None
    native = array.astype(ARRAY_DTYPES[array.dtype.name], copy=False)
    tag = "scalar" if isinstance(value, np.generic) else "array"
    return {tag: [array.dtype.name, list(array.shape), writer.aside(native.tobytes())]}


# Subclasses are written as the plain type they extend: a Counter arrives as a dict, a named tuple as a tuple.
WRITERS: tuple[tuple[Any, Callable[[Writer, Any, int], Any]], ...] = (
    (torch.Tensor, write_tensor),
    ((np.ndarray, np.generic), write_array),
    (list, lambda writer, value, depth: writer.items(list.__iter__(value), depth)),
    (tuple, lambda writer, value, depth: {"tuple": writer.items(tuple.__iter__(value), depth)}),
    (dict, write_dict),
    (set, lambda writer, value, depth: {"set": writer.items(set.__iter__(value), depth)}),
    (frozenset, lambda writer, value, depth: {"frozenset": writer.items(frozenset.__iter__(value), depth)}),
    (str, lambda writer, value, depth: str.__str__(value)),
    (int, lambda writer, value, depth: int.__int__(value)),
    (float, lambda writer, value, depth: float.__float__(value)),
    (complex, lambda writer, value, depth: {"complex": [value.real, value.imag]}),
    ((bytes, bytearray), lambda writer, value, depth: {"bytes": writer.aside(bytes(value))}),
    (range, lambda writer, value, depth: {"range": [value.start, value.stop, value.step]}),
    (
        slice,
        lambda writer, value, depth: {"slice": writer.items((value.start, value.stop, value.step), depth)},
    ),
    (torch.dtype, lambda writer, value, depth: {"dtype": str(value).removeprefix("torch.")}),
    (torch.Generator, lambda writer, value, depth: {"generator": writer.tree(value.get_state(), depth)}),
    (type(Ellipsis), lambda writer, value, depth: {"ellipsis": None}),
)


class Reader:
    """Turns a JSON tree back into values."""

    def __init__(
        self,
        buffers: list[memoryview],
        resolve: Callable[[list], Any] | None,
        generators: bool,
        gradients: bool,
    ):
        self.buffers = dict(enumerate(buffers))
        self.resolve = resolve
        self.generators = generators
        self.gradients = gradients

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
        return [self.value(tree, depth) for tree in trees]

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
            if type(size) is not int or not 0 <= size < 1 << 40:
                raise WireError("a shape that no array has")
            count *= size
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
    elif dtype is torch.bool:  # a byte other than 0 or 1 is no truth value
        tensor = torch.frombuffer(buffer, dtype=torch.uint8).ne(0).reshape(shape)
    else:
        tensor = torch.frombuffer(buffer, dtype=dtype).reshape(shape)
    differentiable = dtype.is_floating_point or dtype.is_complex
    wanted = reader.gradients and content[3] is True
    return tensor.requires_grad_() if wanted and differentiable else tensor


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
        raise WireError("a complex number of odd parts")
    return complex(real, imaginary)


def read_generator(reader: Reader, content: Any, depth: int) -> torch.Generator:
    if not reader.generators:
        raise WireError("a generator where none is allowed")
    generator = torch.Generator()
    generator.set_state(reader.value(content, depth))
    return generator


def read_object(reader: Reader, content: Any, depth: int) -> Any:
    if reader.resolve is None or type(content) is not list or not JSON_SCALARS.issuperset(map(type, content)):
        raise WireError("a reference where none is allowed")
    return reader.resolve(content)


READERS: dict[str, Callable[[Reader, Any, int], Any]] = {
    "tuple": lambda reader, content, depth: tuple(reader.items(content, depth)),
    "dict": read_dict,
    "set": lambda reader, content, depth: set(reader.keys(content, depth)),
    "frozenset": lambda reader, content, depth: frozenset(reader.keys(content, depth)),
    "tensor": read_tensor,
    "array": read_array,
    "scalar": lambda reader, content, depth: read_array(reader, content, depth)[()],
    "generator": read_generator,
    "bytes": lambda reader, content, depth: bytes(reader.buffer(content)),
    "complex": read_complex,
    "range": lambda reader, content, depth: range(*content),
    "slice": lambda reader, content, depth: slice(*reader.items(content, depth)),
    "dtype": lambda reader, content, depth: TENSOR_DTYPES[content],
    "ellipsis": lambda reader, content, depth: Ellipsis,
    "object": read_object,
}
