"""What a released notebook says about its homework, for pages that must not read solutions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from autograder.making.release import released_path
from autograder.source.homework import title, words_below
from autograder.submissions.handed_in import HandedCell
from autograder.submissions.repair import NAMES_ITS_HOMEWORK


@dataclass(frozen=True)
class Handout:
    """A released homework. heading: its first; points: in all; cells: texts of graded and answer cells."""

    heading: str
    points: float = 0.0
    cells: Mapping[str, str] = field(default_factory=dict)

    def answer(self, question: str, text: str) -> str:
        """What a student wrote below a question."""
        return words_below(self.cells.get(question, ""), text)


def handout(root: Path, name: str) -> Handout:
    """The handout of a homework; it has only the name if the homework is not released."""
    path = released_path(root, name)
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else Handout(name)


def mistaken_for(handed: Iterable[HandedCell], root: Path, name: str, others: Iterable[str]) -> str | None:
    """The other homework that a notebook belongs to: it says so, and has no cell that only this one has."""
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
