"""The contents of a feedback page: the exercises with their titles, claims and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from traitlets import Bool

from autograder.nbgrader.feedback import instructors_notebook
from autograder.source.homework import title
from autograder.source.released import SourceCell, source_cells


class Contents(Preprocessor):
    """Give the template `contents`: title → the graded cells below that heading, in order.

    It comes after nbgrader's GetGrades, which writes the scores into the cells.
    """

    enabled = Bool(True, help="whether to use it").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        built = instructors_notebook(resources["nbgrader"]["assignment"])
        known = {cell.name: cell for cell in source_cells(built)}
        headings = dict(_headings(built))
        contents: dict[str, list[dict]] = {}
        for graded in (cell.metadata.get("nbgrader", {}) for cell in nb.cells):
            name = graded.get("grade_id")
            if graded.get("grade") and name in known:
                contents.setdefault(headings[name], []).append(graded | {"words": in_words(known[name])})
        resources["nbgrader"]["contents"] = contents
        return nb, resources


def _headings(notebook: Mapping) -> Iterator[tuple[str, str]]:
    """The name of each cell that nbgrader knows, with the heading above it."""
    heading = ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            heading = title("".join(cell["source"])) or heading
        if name := cell["metadata"].get("nbgrader", {}).get("grade_id"):
            yield name, heading


def in_words(cell: SourceCell) -> str:
    """The claim of a check cell, the number of its claims, or the kind of graded cell if it is another.

    About hidden checks it says only what the students' notebook says too.
    """
    if cell.role == "written":
        return "Your written answer"
    given = " ".join(cell.released.split())
    claims = [claim for claim in cell.claims.values() if claim in given]
    if len(claims) == 1:
        return claims[0]
    count = f"{len(claims)} claims" if claims else "Checks"
    return f"{count} in your notebook" if cell.released == cell.source else f"{count} after you hand in"
