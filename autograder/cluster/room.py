"""A room in which many processes work beside each other, or one alone."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Room:
    """A door and a room, as locked files in a folder.

    Who wants to be alone stands in the door until the others have left, and nobody enters meanwhile.
    """

    folder: Path

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """Be in the room with all who want the same."""
        with self._held("room", fcntl.LOCK_SH):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be in the room when everybody else has left."""
        with self._held("room", fcntl.LOCK_EX):
            yield

    @contextmanager
    def _held(self, name: str, how: int) -> Iterator[None]:
        with (self.folder / name).open(
            "w"
        ) as room:  # the system lets go of what a process that ended has held
            with (self.folder / "door").open("w") as door:
                fcntl.flock(door, fcntl.LOCK_EX)
                fcntl.flock(room, how)
            yield
