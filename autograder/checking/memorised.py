"""Whether an answer works for more than the examples in the notebook.

A table of answers passes a check whose inputs everybody can read. Such a check therefore gives points only if
another check of the exercise holds whose inputs are hidden or drawn for each submission, or a known mistake
gives the same answers for those inputs too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from autograder.source.homework import Check
from course.language import say

ONLY_THE_EXAMPLES = say(
    "This holds for the examples in the notebook, and gives no points: "
    "no check of this exercise with other inputs holds."
)


def in_vain(checks: Iterable[Check], failed: Collection[str]) -> set[str]:
    """The names of checks that hold but give no points, given those that failed."""
    checks = list(checks)
    anew = {check.name for check in checks if check.hidden or check.draws}
    if not anew or not anew <= set(failed):
        return set()
    return {check.name for check in checks} - set(failed)
