"""The points of an exercise: those of its checks that passed, unless they hold for the examples alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from autograder.checking.examine import Examined
from autograder.checking.memorised import ONLY_THE_EXAMPLES, in_vain
from autograder.source.homework import FAILED, PASSED


def points_of(verdicts: Iterable[Examined]) -> float:
    """What these verdicts are worth."""
    return sum(entry.check.points for entry in verdicts if entry.result == PASSED)


def paid(done: Sequence[Examined], is_known: Callable[[], bool]) -> list[Examined]:
    """The verdicts, in which a check that holds only for the notebook's examples does not count as passed.

    is_known: whether a known mistake gives all these answers. Such answers were computed, even for inputs
    that nobody could look up, so the checks that hold for them count.
    """
    failed = {entry.check.name for entry in done if entry.result == FAILED}
    unpaid = in_vain([entry.check for entry in done], failed)
    if not unpaid or is_known():
        return [*done]
    return [
        entry._replace(result=FAILED, message=ONLY_THE_EXAMPLES)
        if entry.check.name in unpaid and entry.result == PASSED
        else entry
        for entry in done
    ]
