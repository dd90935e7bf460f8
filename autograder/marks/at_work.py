"""Whether a grader works in a course's folder: a lock that graders hold together, and `forget` alone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILE = ".lock"  # in grades/, where every grader can write


class AtWork(RuntimeError):
    """Another command is at work in the folder; the message says which, and what to do."""


@contextmanager
def together(root: Path) -> Iterator[None]:
    """Hold it together with other graders; raises AtWork."""
    with _held(root, fcntl.LOCK_SH, "`autograder forget` is at work in this folder; try again after it."):
        yield


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold it alone; raises AtWork."""
    sentence = "`grade`, `watch`, `serve` or `collect` is at work in this folder; end it first."
    with _held(root, fcntl.LOCK_EX, f"{sentence} Nothing was deleted."):
        yield


@contextmanager
def _held(root: Path, how: int, otherwise: str) -> Iterator[None]:
    """When a process ends, the system releases what it held."""
    path = root / "grades" / FILE
    path.parent.mkdir(exist_ok=True)
    # read-only: the file may belong to another grader's account
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)) as file:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AtWork(otherwise) from None
        yield
