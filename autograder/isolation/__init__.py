"""Where student code runs: a fresh process per submission, confined as well as the machine allows.

    grader ── Warm ──▶ zygote             torch imported once, one thread, no rights, no secrets
      │                  └─ fork ─▶ keeper         one per submission: builds the sandbox, watches, ends it
      └─ Student ◀─ wire ─▶           └─ fork ─▶ student's process    confined before its first line

Only plain data crosses, either way. What the student's process answers is its own word: the verdict is the
grader's, made from values of exact types. Whoever of the four dies, those below it end too.

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
