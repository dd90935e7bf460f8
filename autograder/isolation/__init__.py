"""Where student code runs: a fresh process per submission, confined as well as the machine allows.

    grader ── Warm ──▶ zygote             torch imported once; one thread, no secrets
      │                  └─ fork ─▶ keeper         one per submission: builds the sandbox, watches, ends it
      └─ Student ◀─ wire ─▶           └─ fork ─▶ student's process    confined before its first line

Only plain data crosses, in both directions. The answers of the student's process are not trusted: the grader
makes the verdict from values of exact types. When one of the four processes ends, those below it end too.

Nothing that is named here imports torch: a grader starts its zygote first, and imports torch meanwhile.
"""

from autograder.isolation.levels import Level, choose
from autograder.isolation.limits import Limits
from autograder.isolation.results import (
    CellResult,
    Died,
    Fault,
    Frame,
    IsolationUnavailable,
    Raised,
)
from autograder.isolation.warm import Warm

__all__ = [
    "CellResult",
    "Died",
    "Fault",
    "Frame",
    "IsolationUnavailable",
    "Level",
    "Limits",
    "Raised",
    "Warm",
    "choose",
]
