"""Whether an answer holds for more than the examples that stand in the notebook.

A check whose inputs everybody can read is passed by a table of its answers as well as by a solution. It pays
only beside a check of the same exercise with inputs of the submission's own, hidden or drawn anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from autograder.source.homework import Check

ONLY_THE_EXAMPLES = (
    "This holds for the examples in the notebook, and gives no points: "
    "no check of this exercise with other inputs was seen to hold."
)


def in_vain(checks: Iterable[Check], failed: Collection[str]) -> set[str]:
    """The checks, by name, that hold and still give no points, where these have failed."""
    checks = list(checks)
    anew = {check.name for check in checks if check.hidden or check.draws}
    if not anew or not anew <= set(failed):
        return set()
    return {check.name for check in checks} - set(failed)
