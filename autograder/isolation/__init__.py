"""Where student code runs: a fresh process per submission, confined as well as the machine allows."""

from autograder.isolation.levels import Level, choose
from autograder.isolation.limits import Limits
from autograder.isolation.results import (
    CellResult,
    Died,
    Fault,
    Frame,
    Handle,
    IsolationUnavailable,
    Named,
    Raised,
    Reply,
)
from autograder.isolation.student import Student
from autograder.isolation.warm import Warm

__all__ = [
    "CellResult",
    "Died",
    "Fault",
    "Frame",
    "Handle",
    "IsolationUnavailable",
    "Level",
    "Limits",
    "Named",
    "Raised",
    "Reply",
    "Student",
    "Warm",
    "choose",
]
