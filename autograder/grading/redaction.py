"""The message of a hidden check: nothing that the student's code could choose after seeing an input.

Students learn whether a hidden check holds, and whether it was tried. How it failed is withheld: the name of
an error, the way a process ended and the time it took could each leak a part of the hidden input.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.checking.examine import Examined
from autograder.grading.standin import NotTried
from course.checks import NotWritten
from course.language import say

DOES_NOT_HOLD = say(
    "This does not hold, or no answer came within the limits. The inputs of this check are not shown."
)
ENDED = say("ended, or was ended at a limit, while hidden checks ran")


def not_tried(name: str) -> str:
    """Why a hidden check of an exercise whose processes ended was not tried."""
    return say(
        "Not tried: `{name}` ended its process, or reached a limit, in earlier hidden checks.", name=name
    )


def redacted(done: Examined) -> str:
    """Why a hidden check failed: one sentence whatever the code did, and another if it was not tried."""
    if isinstance(done.problem, NotTried):
        return done.problem.what_happened
    return DOES_NOT_HOLD


def is_not_written(visible: Sequence[Examined]) -> bool:
    """Whether all visible checks of an exercise met a stub, so that the hidden ones need not run."""
    return bool(visible) and all(isinstance(done.problem, NotWritten) for done in visible)
