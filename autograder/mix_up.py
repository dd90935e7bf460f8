"""A notebook of another homework, handed in by mistake."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.handed_in import HandedCell
from autograder.repair import Repaired

NAMES_ITS_HOMEWORK = re.compile(r"\bhomework\(\s*[\"'](\w{1,80})[\"']")


def mix_up(handed: Sequence[HandedCell], repaired: Repaired, homework: str) -> str | None:
    """A sentence where a notebook says that it is of another homework and holds nothing of this one."""
    ours = (cell for cell in repaired.cells if cell.role in ("answer", "written", "check"))
    if not all(cell.restored for cell in ours):
        return None
    named = {name for cell in handed for name in NAMES_ITS_HOMEWORK.findall(cell.source)}
    if not named or homework in named:
        return None
    return f"This is the notebook of {min(named)}, and nothing of {homework} is in it."
