"""A lock that many processes hold together, or one alone."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SharedLock:
    """Two locked files in a folder; when a process ends, the system releases what it held.

    A process that wants it alone holds the second file while it waits for the others to leave, so that no
    other process can enter.
    """

    folder: Path

    @contextmanager
    def together(self) -> Iterator[None]:
        """Hold it together with others."""
        with self._held(fcntl.LOCK_SH):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold it alone, once everybody else has released it."""
        with self._held(fcntl.LOCK_EX):
            yield

    @contextmanager
    def _held(self, how: int) -> Iterator[None]:
        with (self.folder / "held").open("w") as held:
            with (self.folder / "entrance").open("w") as entrance:
                fcntl.flock(entrance, fcntl.LOCK_EX)
                fcntl.flock(held, how)
            yield
