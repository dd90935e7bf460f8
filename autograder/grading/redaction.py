"""The message of a hidden check: nothing that the student's code could choose once it has seen an input.

Whether a hidden check holds is told, and that it was not tried. How it failed is not: the name of an error,
the way a process ended and the time it took would each be a letter of a message about the hidden input.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.checking.examine import Examined
from autograder.grading.standin import NotTried
from course.checks import NotWritten

DOES_NOT_HOLD = (
    "This does not hold, or no answer came within the limits. The inputs of this check are not shown."
)
NOT_TRIED = "Not tried: `{name}` ended its process, or ran into a limit, in the hidden checks before."
ENDED = "ended, or was ended at a limit, while hidden checks ran"


def redacted(done: Examined) -> str:
    """Why a hidden check failed: one sentence for whatever the code did; another where it was not asked."""
    if isinstance(done.problem, NotTried):
        return str(done.problem)
    return DOES_NOT_HOLD


def is_not_written(visible: Sequence[Examined]) -> bool:
    """Whether the visible checks of an exercise have all met a stub; the hidden ones need not be run then."""
    return bool(visible) and all(isinstance(done.problem, NotWritten) for done in visible)
