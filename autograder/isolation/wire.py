"""Values across the border between the grader and a student's process: plain data only, no pickle either way.

A frame is a tree in JSON followed by raw buffers:

    u32 bytes of tree | u32 buffers | u64 bytes of each buffer … | tree | buffers …

None, bool, int, float, str and list are JSON's own; everything else is an object with one key, its tag.
What cannot be written down is passed by reference, if the caller of `encode` knows how (`refer`).
The decoder trusts nothing: it builds exact types only and checks sizes, depth, dtypes and hash collisions.
"""

import json
import struct
from collections.abc import Callable
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

AS_JSON = json.JSONEncoder(separators=(",", ":"))

__all__ = ["Unencodable", "WireError", "content", "decode", "encode"]


def encode(value: Any, refer: Callable[[Any], list] | None = None) -> bytes:
    """Write a value down as a frame.

    refer: turns anything that is not plain data into a reference, a list of JSON scalars.
    Raises Unencodable.
    """
    writer = Writer(refer)
    tree = AS_JSON.encode(writer.tree(value, MAX_DEPTH)).encode()
    lengths = [len(buffer) for buffer in writer.buffers]
    head = struct.pack(f"<II{len(lengths)}Q", len(tree), len(lengths), *lengths)
    return b"".join((head, tree, *writer.buffers))


def content(value: Any, refer: Callable[[Any], list] | None = None) -> Any:
    """What a frame of this value would hold, to be compared with that of another moment.

    The states of generators are left out: how much was drawn from them is no content.
    """
    writer = Writer(refer, generators=False)
    return writer.tree(value, MAX_DEPTH), writer.buffers


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
