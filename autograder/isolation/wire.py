"""Values between the grader's and a student's process: plain data only, no pickle in either direction.

A frame is a tree in JSON followed by raw buffers:

    u32 bytes of tree | u32 buffers | u64 bytes of each buffer … | tree | buffers …

None, bool, int, float, str and list are JSON's own; everything else is an object with one key, its tag.
The decoder trusts nothing: it builds exact types only and checks sizes, depth, dtypes and hash collisions.
"""

import json
import struct
from typing import Any

from autograder.isolation.decoder import Reader
from autograder.isolation.encoder import Writer
from autograder.isolation.plain_data import (
    MAX_BRACKETS,
    MAX_BUFFERS,
    MAX_DEPTH,
    MAX_TREE_BYTES,
    Unencodable,
    WireError,
)

BYTES_OF_AN_ENTRY = 64
AS_JSON = json.JSONEncoder(separators=(",", ":"), check_circular=False)  # a tree has been copied
FROM_JSON = json.JSONDecoder()

Content = tuple[Any, list[bytes]]  # a tree that JSON can write, and the buffers

__all__ = ["Unencodable", "WireError", "content", "decode", "encode", "framed", "weight"]


def encode(value: Any) -> bytes:
    """Write a value as a frame; raises Unencodable if it is not plain data, or too large."""
    return framed(content(value))


def content(value: Any) -> Content:
    """The content of a frame of this value, to compare it with a later one or to frame it later."""
    writer = Writer()
    return writer.tree(value, MAX_DEPTH), writer.buffers


def framed(content: Content) -> bytes:
    """The frame of this content; raises Unencodable if it is too large."""
    tree, buffers = AS_JSON.encode(content[0]).encode(), content[1]
    if is_too_large(tree, len(buffers)):
        raise Unencodable("a value of too many parts")
    lengths = [len(buffer) for buffer in buffers]
    head = struct.pack(f"<II{len(lengths)}Q", len(tree), len(lengths), *lengths)
    return b"".join((head, tree, *buffers))


def decode(frame: bytes | bytearray, *, generators: bool = False) -> Any:
    """Read a frame back into exact types: int, list, dict, torch.Tensor …

    generators: whether the states of generators are trusted; otherwise new generators take their place.
    Raises WireError, and nothing else, whatever the bytes are.
    """
    try:
        tree, buffers = split(frame)
        return Reader(buffers, generators).value(FROM_JSON.decode(str(tree, "utf-8")), MAX_DEPTH)
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


def weight(frame: bytes | bytearray) -> int:
    """About how many bytes a frame's value takes in memory: each number in its tree becomes an object."""
    (tree_bytes, count) = struct.unpack_from("<II", frame)
    begin = 8 + 8 * count
    return len(frame) + BYTES_OF_AN_ENTRY * frame.count(b",", begin, begin + tree_bytes)


def is_too_large(tree: bytes, buffers: int) -> bool:
    """Whether a frame would hold more than any honest answer needs."""
    brackets = tree.count(b"[") + tree.count(b"{")
    return len(tree) > MAX_TREE_BYTES or buffers > MAX_BUFFERS or brackets > MAX_BRACKETS


def split(frame: bytes | bytearray) -> tuple[bytes, list[memoryview]]:
    """A frame's tree and its buffers; raises WireError if the lengths do not add up."""
    view = memoryview(frame)
    tree_bytes, count = struct.unpack_from("<II", view)
    if tree_bytes > MAX_TREE_BYTES or count > MAX_BUFFERS:
        raise WireError("a frame with too large a tree or too many buffers")
    lengths = struct.unpack_from(f"<{count}Q", view, 8)
    position = 8 + 8 * count + tree_bytes
    if position + sum(lengths) != len(view):
        raise WireError("a frame whose lengths do not add up")
    tree = bytes(view[8 + 8 * count : 8 + 8 * count + tree_bytes])
    if is_too_large(tree, count):
        raise WireError("a frame of too many parts")
    buffers = []
    for length in lengths:
        buffers.append(view[position : position + length])
        position += length
    return tree, buffers
