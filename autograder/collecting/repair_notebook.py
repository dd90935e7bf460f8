"""Repair a damaged notebook from the release, as a new file; the original is left unchanged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from autograder.making.release import released_path
from autograder.marks.records import write_text
from autograder.source.earlier_releases import retired, with_earlier
from autograder.source.loading import require_name
from autograder.source.notebook import notebook, notebook_cell, to_json
from autograder.source.released import NotReleased, source_cells
from autograder.submissions.collect import read
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import RepairedCell, repair

NOTHING = "Nothing had to be repaired."


class WouldOverwrite(FileExistsError):
    """The repaired notebook would overwrite an existing file."""


def repair_notebook(path: Path, homework: str, root: Path, to: Path | None = None) -> tuple[Path, list[str]]:
    """Write the repaired notebook (beside the original by default); returns what was done.

    Cells are recognised by grade id, cell id and text. The release has no hidden checks, so none is added.
    Raises Unreadable, NotReleased, SourceError or WouldOverwrite.
    """
    require_name(homework, root)
    release = released_path(root, homework)
    if not release.is_file():
        raise NotReleased(f"{homework} was never released. Run `autograder release {homework}`.")
    to = to or path.with_name(f"{path.stem}.repaired.ipynb")
    if to.exists() or to.is_symlink():
        raise WouldOverwrite(f"{to} exists already; give another name with --to.")
    handed = parse(read(path))
    source = source_cells(json.loads(release.read_text(encoding="utf-8")))
    folder = root / "solutions" / homework
    source = with_earlier(source, folder)
    repaired = repair(handed.cells, source, retired(source, folder))
    write_text(to, to_json(notebook(_cells(repaired.cells))))
    return to, [*handed.flags, *repaired.flags, *repaired.notes] or [NOTHING]


def _cells(cells: Sequence[RepairedCell]) -> list[dict]:
    return [_cell(position, cell) for position, cell in enumerate(cells)]


def _cell(position: int, cell: RepairedCell) -> dict:
    """A cell of the release, with the student's text where it belongs, and without output."""
    name = cell.of.name if cell.of else f"handed-in-{position}"
    metadata = {"nbgrader": dict(cell.of.nbgrader)} if cell.of else {}
    made = notebook_cell(name, cell.kind, cell.source, metadata)
    return made | (
        {"attachments": dict(cell.attachments)} if cell.attachments and cell.kind != "code" else {}
    )
