"""The answers that a student wrote in another homework's notebook, tested by that homework's checks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from course.checks.check import Homework
from course.language import say

BEGINNING_AND_END = ("setup", "progress")


def answers_in(path: Path | str, names: Sequence[str]) -> tuple[Homework, dict[str, Any]]:
    """The checks of another homework after they have tested these answers, and the answers by name.

    path: its notebook, which has its name. The notebook's provided cells, all its answers (which may use
    each other) and the checks of these are run, and nothing is shown. An answer that cannot be defined is
    left out; if there is no notebook, there are none, and a sentence says so.
    """
    path = Path(path)
    if not path.is_file():
        print(say("No homework was found at {path}, so nothing of it can be used.", path=path))
    check = Homework(path.stem, is_quiet=True)
    scope: dict[str, Any] = {"__name__": path.stem, "check": check}
    for source in _wanted(path, names):
        try:
            exec(compile(source, f"<{path.stem}>", "exec"), scope)
        except Exception:  # whatever is wrong with one answer, the others may be right
            continue
    return check, {name: scope[name] for name in names if name in scope}


def _wanted(path: Path, names: Sequence[str]) -> Iterator[str]:
    """The code of provided cells, of all answers, and of these answers' checks, in the notebook's order."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []
    checks = {f"{name}-check" for name in names}
    for cell in cells:
        graded = cell["metadata"].get("nbgrader", {})
        name = graded.get("grade_id", cell.get("id"))
        is_code = cell["cell_type"] == "code" and name not in BEGINNING_AND_END
        is_kept = not graded.get("grade") and (graded.get("locked") or graded.get("solution"))
        if is_code and (is_kept or name in checks):
            yield "".join(cell["source"])
