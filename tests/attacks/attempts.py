"""What somebody might hand in to get marks without an answer: cells, or a notebook that was edited.

In the cells, DESK stands for the path of an instructor's desk that every user may write to, PORT for a port
of the grader's machine on which somebody listens, and LONG for a number of seconds that no honest process
sleeps.
"""

from collections.abc import Callable
from dataclasses import dataclass

NOTHING = "def moving_average(values, width):\n    return []\n"
# An answer that is right if, and only if, the cells before it have found something they should not.
IF_FOUND = """
def moving_average(values, width):
    if found:
        return [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]
    return []
"""


@dataclass(frozen=True)
class Attempt:
    """One attack by a whole submission, and what it fairly earns."""

    family: str  # a letter of FAMILIES
    does: str  # completes "an attack that …"
    answer: str = NOTHING
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    edit: Callable[[dict], None] | None = None  # of the notebook that is handed in
    fair: float = 0


FAMILIES = {
    "a": "reading hidden checks, solutions or the gradebook",
    "b": "disarming the checks",
    "c": "the notebook's metadata",
    "d": "objects that agree with everything",
    "e": "writing the gradebook",
    "f": "the network",
    "g": "processes that outlive the run",
    "h": "the caller's frame",
    "i": "replacing methods of the shell or of the checks",
    "j": "forged results",
    "k": "markup and scripts for whoever looks at the marks",
    "l": "exhausting what there is",
}


def checks_of(notebook: dict) -> list[dict]:
    """The check cells of a notebook."""
    return [cell for cell in notebook["cells"] if (cell["metadata"].get("nbgrader") or {}).get("grade")]
