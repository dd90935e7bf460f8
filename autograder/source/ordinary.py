"""An assignment made with nbgrader's own tools: solutions/NAME/NAME.ipynb without a source beside it.

Its checks are assertions in the notebook, and it has no catalogue, so there is nothing to build, to verify or
to diagnose; its checks run inside the notebook (see `autograder.grading.in_place`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.source.homework import Check, Exercise, HomeworkSource, Written
from autograder.source.notebook import Cell, SourceError
from autograder.source.released import SourceCell, source_cells

HIDDEN = "BEGIN HIDDEN TESTS"


def ordinary(folder: Path) -> HomeworkSource:
    """Read solutions/NAME/NAME.ipynb; raises SourceError if it is not a notebook."""
    folder = folder.resolve()
    path = folder / f"{folder.name}.ipynb"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        known = source_cells(notebook)
        cells = tuple(_cell(cell) for cell in notebook["cells"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{path} is not a notebook of format 4 ({error}).") from error
    return HomeworkSource(
        name=folder.name,
        folder=folder,
        cells=cells,
        exercises=tuple(_exercises(known)),
        written=tuple(_written(cell) for cell in known if cell.role == "written"),
        misconceptions=(),
        alternatives=(),
        not_code=(),
        files=(path,),
        in_place=True,
    )


def _cell(cell: Mapping) -> Cell:
    nbgrader = cell["metadata"].get("nbgrader", {})
    labels = {"solution": nbgrader["grade_id"]} if nbgrader.get("solution") else {}
    return Cell(cell["cell_type"], "".join(cell["source"]), labels)


def _exercises(cells: Sequence[SourceCell]) -> Iterator[Exercise]:
    """Each answer with the graded cells below it; a graded cell above all answers is its own exercise."""
    groups: dict[str, list[SourceCell]] = {}
    current = None
    for cell in cells:
        if cell.role == "answer":
            current = cell
        elif cell.role == "check":
            groups.setdefault((current or cell).name, []).append(cell)
    answers = {cell.name: cell for cell in cells if cell.role == "answer"}
    for name, checks in groups.items():
        stub = answers[name].released if name in answers else ""
        made = tuple(_check(check, name) for check in checks)
        yield Exercise(name, in_words(name), "", 1, 0, (), (), stub, "", 1, made)


def _check(cell: SourceCell, exercise: str) -> Check:
    return Check(
        name=cell.name,
        exercise=exercise,
        claim=f"The cell {cell.name} runs without an error.",
        hidden=HIDDEN in cell.source,
        points=cell.nbgrader.get("points", 0),
        source=cell.source,
        line=1,
        cell=cell.name,
    )


def _written(cell: SourceCell) -> Written:
    return Written(cell.name, cell.released, cell.nbgrader.get("points", 0), 0)


def in_words(name: str) -> str:
    """`test_square-root` → `test square root`."""
    return name.replace("_", " ").replace("-", " ")
