"""Weights that take long to compute, kept as a safetensors file in the cache.

A file states what its weights were made of and their checksum. One that does not fit, is damaged or was cut
short is as good as none; where none can be written, nothing is kept.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from course.shapes import Tensor


def keep(weights: Mapping[str, Tensor], path: Path, made_of: str) -> None:
    """Write the weights in one step: nobody finds half a file. made_of: a digest of their source."""
    metadata = {"made_of": made_of, "checksum": _checksum(weights)}
    with contextlib.suppress(OSError, SafetensorError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        os.close(handle)
        try:
            save_file(dict(weights), unfinished, metadata)
            os.replace(unfinished, path)
        finally:
            Path(unfinished).unlink(missing_ok=True)


def kept(path: Path, made_of: str) -> dict[str, Tensor] | None:
    """The weights in a file, if it is whole and they were made of this source."""
    with contextlib.suppress(OSError, SafetensorError), safe_open(path, "pt") as file:
        metadata = file.metadata() or {}
        if metadata.get("made_of") == made_of:
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no dict
            return weights if metadata.get("checksum") == _checksum(weights) else None
    return None


def _checksum(weights: Mapping[str, Tensor]) -> str:
    """CRC-32 of names and numbers, in the order of the names."""
    total = 0
    for name in sorted(weights):
        total = zlib.crc32(weights[name].contiguous().numpy().data, zlib.crc32(name.encode(), total))
    return f"{total:08x}"
