"""Warm processes as other machines have them: an ordinary user starts the grader, the kernel is older."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from warm_levels import SMALL

from autograder.isolation import IsolationUnavailable, Warm, choose, landlock

ORDINARY = 60577  # beside the ids that submissions get
SCRIPT = Path(__file__).with_name("start_zygote.py")


class WarmAsElsewhere(Warm):
    """A warm process of another user, or with another Landlock."""

    def __init__(self, level, version, user):
        super().__init__(level, SMALL, imports=())
        self.program = (sys.executable, str(SCRIPT), version, user)


@dataclass(frozen=True)
class Start:
    """A level, who starts the grader, and the newest version of Landlock that the kernel is taken to have."""

    level: str
    root: bool
    version: int | None = None

    def __str__(self) -> str:
        version = "" if self.version is None else f"-{self.version}"
        return f"{self.level}-{'root' if self.root else 'ordinary'}{version}"

    def warm(self) -> Warm:
        """Not started yet; the test is skipped where this machine cannot have it."""
        if self.root and os.geteuid() != 0:
            pytest.skip("only root can start as root")
        if self.version is not None and landlock.version() < self.version:
            pytest.skip(f"this kernel has Landlock {landlock.version()} only")
        try:
            level = choose(self.level)
        except IsolationUnavailable as problem:
            pytest.skip(str(problem))
        user = "" if self.owner == os.geteuid() else str(self.owner)
        return WarmAsElsewhere(level, "" if self.version is None else str(self.version), user)

    @property
    def owner(self) -> int:
        """The user who starts the grader, whose the teacher's files are."""
        return ORDINARY if not self.root and os.geteuid() == 0 else os.geteuid()


STARTS = [
    *(Start("bwrap", root) for root in (True, False)),
    *(Start("landlock", root, version) for root in (True, False) for version in (None, 1, 3, 5)),
]
