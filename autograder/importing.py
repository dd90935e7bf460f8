"""Whether a signal has come in the middle of an import, which cannot be left half done."""

from __future__ import annotations

from types import FrameType

IMPORT_MACHINERY = "<frozen importlib."


def is_importing(frame: FrameType | None) -> bool:
    """Whether a frame is part of an import, at any depth."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(IMPORT_MACHINERY):
            return True
        frame = frame.f_back
    return False
