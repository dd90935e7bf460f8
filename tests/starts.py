"""Warm processes as other machines have them: an ordinary user starts the grader, the kernel is older."""

import atexit
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from warm_levels import SMALL, warm_or_skip

from autograder.isolation import IsolationUnavailable, Warm, choose, landlock
from autograder.isolation.settings import DEFAULT_IMPORTS

ORDINARY = 60577  # beside the ids that submissions get
SCRIPT = Path(__file__).with_name("start_zygote.py")


@dataclass(frozen=True)
class Start:
    """A level, who starts the grader, and the newest version of Landlock that the kernel is taken to have."""

    level: str
    root: bool
    version: int | None = None

    def __str__(self) -> str:
        version = "" if self.version is None else f"-{self.version}"
        return f"{self.level}-{'root' if self.root else 'ordinary'}{version}"

    @property
    def is_here(self) -> bool:
        """Whether the user who runs the tests starts the grader, and the kernel is this one."""
        return self.version is None and self.root == (os.geteuid() == 0)

    def warm(self, imports: tuple[str, ...] = ()) -> Warm:
        """Not started yet; the test is skipped where this machine cannot have it."""
        if self.root and os.geteuid() != 0:
            pytest.skip("only root can start as root")
        if self.version is not None and landlock.version() < self.version:
            pytest.skip(f"this kernel has Landlock {landlock.version()} only")
        try:
            level = choose(self.level)
        except IsolationUnavailable as problem:
            pytest.skip(str(problem))
        warm = Warm(level, SMALL, imports)
        warm.program = self.program
        return warm

    @property
    def program(self) -> tuple[str, ...]:
        """What starts the warm process."""
        version = "" if self.version is None else str(self.version)
        user = "" if self.owner == os.geteuid() else str(self.owner)
        return sys.executable, str(SCRIPT), version, user

    @property
    def owner(self) -> int:
        """The user who starts the grader, whose the teacher's files are."""
        return ORDINARY if not self.root and os.geteuid() == 0 else os.geteuid()


STARTS = [
    *(Start("bwrap", root) for root in (True, False)),
    *(Start("landlock", root, version) for root in (True, False) for version in (None, 1, 3, 5)),
]


def as_parameters(is_quick: Callable[[Start], bool]) -> list[Any]:
    """Every start; those that are not quick are tried at night."""
    return [
        pytest.param(start, id=str(start), marks=() if is_quick(start) else pytest.mark.nightly)
        for start in STARTS
    ]


EACH = as_parameters(lambda start: start.is_here)  # a quick run tries what this machine is
# The weakest: an ordinary user, with no more of Landlock than any kernel that has it.
WEAKEST = (Start("bwrap", root=False), Start("landlock", root=False, version=1))
EACH_AND_WEAKEST = as_parameters(lambda start: start.is_here or start in WEAKEST)


@functools.cache
def shared(start: Start) -> Warm:
    """One warm process for all tests; the test is skipped where this machine cannot have it."""
    if start.is_here:
        return warm_or_skip(start.level)
    warm = start.warm(DEFAULT_IMPORTS).__enter__()
    atexit.register(warm.close)
    return warm
