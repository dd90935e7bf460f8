"""What a released notebook says of its homework, for pages that read no solutions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from autograder.making.release import released_path
from autograder.source.homework import TEXT_STUB, title
from autograder.submissions.handed_in import HandedCell
from autograder.submissions.repair import NAMES_ITS_HOMEWORK


@dataclass(frozen=True)
class Handout:
    """heading: its first. points: what all of it is worth. cells: text of graded and answered cells."""

    heading: str
    points: float = 0.0
    cells: Mapping[str, str] = field(default_factory=dict)

    def answer(self, question: str, text: str) -> str:
        """What a cell says besides the question; all of it, if anything was written into the question."""
        asked = self.cells.get(question, "").replace(TEXT_STUB, "").strip()
        return text.strip().removeprefix(asked).strip().removeprefix(TEXT_STUB).strip()


def handout(root: Path, name: str) -> Handout:
    """The handout of a homework; of one that is not released, its name alone."""
    path = released_path(root, name)
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else Handout(name)


def mistaken_for(handed: Iterable[HandedCell], root: Path, name: str, others: Iterable[str]) -> str | None:
    """Which of the other homeworks a notebook is, if it says so and has no cell of this one alone."""
    handed = list(handed)
    named = {one for cell in handed for one in NAMES_ITS_HOMEWORK.findall(cell.source)}
    if name in named or not (found := sorted(named.intersection(others))):
        return None
    ours = handout(root, name).cells.keys() - handout(root, found[0]).cells.keys()
    return None if ours.intersection(cell.name for cell in handed) else found[0]


@cache
def _read(path: Path, time: int) -> Handout:
    cells: list[Mapping] = json.loads(path.read_text("utf-8"))["cells"]
    headings = (title("".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown")
    known = [
        (known, "".join(cell["source"])) for cell in cells if (known := cell["metadata"].get("nbgrader"))
    ]
    return Handout(
        next(filter(None, headings), path.stem),
        sum(float(one.get("points") or 0) for one, _ in known if one["grade"]),
        {one["grade_id"]: text for one, text in known if one["grade"] or one["solution"]},
    )
