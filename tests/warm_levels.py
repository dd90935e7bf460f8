"""One warm process per isolation level and test run, for every test that needs student processes."""

import atexit
import functools
from copy import copy
from dataclasses import replace

import pytest

from autograder.isolation import IsolationUnavailable, Limits, Warm, choose

LEVELS = ("bwrap", "landlock", "none")
CONFINED = ("bwrap", "landlock")

SMALL = Limits(
    memory_bytes=600 << 20,
    cpu_seconds=20,
    call_seconds=10.0,
    cell_seconds=20.0,
    submission_seconds=60.0,
    processes=24,
    files=500,
    file_bytes=32 << 20,
    reply_bytes=4 << 20,
)


PATIENT = replace(SMALL, submission_seconds=600.0)  # for a student shared by the tests of a module


@functools.cache
def warm_at(level: str) -> Warm | str:
    """The warm process of a level, or why there is none here."""
    try:
        warm = Warm(choose(level), SMALL).__enter__()
    except IsolationUnavailable as problem:
        return str(problem)
    atexit.register(warm.close)
    return warm


def warm_or_skip(level: str) -> Warm:
    """The warm process of a level; the test is skipped, with the reason, where there is none."""
    warm = warm_at(level)
    if isinstance(warm, str):
        pytest.skip(warm)
    return warm


def warm_with(limits: Limits, level: str = "best") -> Warm:
    """The same warm process, for students with these limits."""
    warm = copy(warm_or_skip(choose(level).name))
    warm.limits = limits
    return warm
