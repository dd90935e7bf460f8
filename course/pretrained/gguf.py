"""Read a GGUF file: a model's sizes, its tokenizer and its quantised weights, all in one file.

The layout is that of the GGUF specification, version 3 (github.com/ggml-org/ggml, docs/gguf.md):

    magic "GGUF", version, number of tensors, number of fields
    fields      name, type, value             model sizes, the tokenizer's tokens and merges, …
    tensors     name, shape, type, offset     one row of this table per tensor
    data        from the next multiple of the alignment on
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course.pretrained.quantisation import FORMATS
from course.shapes import Tensor

VERSION = 3
DEFAULT_ALIGNMENT = 32  # bytes; the field general.alignment states another one

# The types of fields by their number in the file, as `struct` writes them. Strings and arrays come below.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


class GGUFError(ValueError):
    """The bytes are not those of a GGUF file that this reader knows."""


@dataclass(frozen=True)
class TensorEntry:
    """Where a tensor's blocks lie in the file, and how they are quantised."""

    shape: tuple[int, ...]
    format_number: int
    start: int  # in bytes from the beginning of the file


@dataclass(frozen=True)
class GGUFFile:
    """The fields of a file, and its tensors, which are dequantised when they are asked for."""

    fields: dict[str, Any]
    entries: dict[str, TensorEntry]
    contents: Tensor  # (bytes,) uint8

    def tensor(self, name: str) -> Tensor:
        """A tensor in float32. Raises KeyError for an unknown name, GGUFError for an unknown quantisation."""
        entry = self.entries[name]
        if entry.format_number not in FORMATS:
            raise GGUFError(
                f"{name}: expected a quantisation among {', '.join(map(str, FORMATS))},"
                f" got number {entry.format_number}"
            )
        layout = FORMATS[entry.format_number]
        n_bytes = math.prod(entry.shape) // layout.n_weights * layout.n_bytes
        blocks = self.contents[entry.start : entry.start + n_bytes].view(-1, layout.n_bytes)
        return layout.dequantise(blocks).view(entry.shape)


class Cursor:
    """Reads little-endian values one after another."""

    def __init__(self, contents: np.ndarray) -> None:
        self.contents = contents.data
        self.at = 0

    def take(self, n_bytes: int) -> memoryview:
        """The next bytes. Raises GGUFError if the file ends too early."""
        end = self.at + n_bytes
        if end > len(self.contents):
            raise GGUFError(f"expected {end:,} bytes or more, got a file of {len(self.contents):,}")
        taken = self.contents[self.at : end]
        self.at = end
        return taken

    def numbers(self, code: str, count: int = 1) -> tuple:
        """The next `count` numbers of one type."""
        return struct.unpack(f"<{count}{code}", self.take(count * struct.calcsize(code)))

    def string(self) -> str:
        """The next string: its length in bytes, then UTF-8."""
        (n_bytes,) = self.numbers("Q")
        return str(self.take(n_bytes), "utf-8")

    def value(self, kind: int) -> Any:
        """The next value of a field."""
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            (element,), (count,) = self.numbers("I"), self.numbers("Q")
            if element in NUMBERS:
                return list(self.numbers(NUMBERS[element], count))
            return [self.value(element) for _ in range(count)]
        if kind not in NUMBERS:
            raise GGUFError(f"expected a field of type 0 … 12, got type {kind}")
        return self.numbers(NUMBERS[kind])[0]


def read_gguf(path: Path | str) -> GGUFFile:
    """The fields and the tensors of a file. Raises GGUFError if it is not GGUF version 3."""
    return parse_gguf(np.fromfile(path, dtype=np.uint8))


def parse_gguf(contents: np.ndarray) -> GGUFFile:
    """The same for the bytes of a file, (bytes,) uint8."""
    cursor = Cursor(contents)
    magic = bytes(cursor.take(4))
    (version,) = cursor.numbers("I")
    if magic != b"GGUF" or version != VERSION:
        raise GGUFError(f"expected the beginning of GGUF version 3, got {magic!r} and version {version}")
    n_tensors, n_fields = cursor.numbers("Q", 2)
    fields = {}
    for _ in range(n_fields):
        name, (kind,) = cursor.string(), cursor.numbers("I")
        fields[name] = cursor.value(kind)
    table = [(cursor.string(), shape_and_place(cursor)) for _ in range(n_tensors)]
    alignment = fields.get("general.alignment", DEFAULT_ALIGNMENT)
    first = math.ceil(cursor.at / alignment) * alignment
    entries = {
        name: TensorEntry(shape, format_number, first + offset)
        for name, (shape, format_number, offset) in table
    }
    return GGUFFile(fields, entries, torch.from_numpy(contents))


def shape_and_place(cursor: Cursor) -> tuple[tuple[int, ...], int, int]:
    """Shape, number of the quantisation, and offset in the data. The file counts axes from the last one."""
    (n_axes,) = cursor.numbers("I")
    sizes = cursor.numbers("Q", n_axes)
    (format_number,), (offset,) = cursor.numbers("I"), cursor.numbers("Q")
    return tuple(reversed(sizes)), format_number, offset
