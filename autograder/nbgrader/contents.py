"""The contents of a feedback page: the exercises with their titles, claims and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from traitlets import Bool

from autograder.languages.notebooks import in_language
from autograder.marks.decisions import Decisions
from autograder.nbgrader.feedback import instructors_notebook, language_of_student
from autograder.source.homework import title
from autograder.source.released import SourceCell, source_cells
from course.language import say, say_count


class Contents(Preprocessor):
    """Give the template `contents`: title → the graded cells below that heading, in order; and `is_excused`.

    It comes after nbgrader's GetGrades, which writes the scores into the cells.
    """

    enabled = Bool(True, help="whether to use it").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        language = language_of_student(about["assignment"], about["student"])
        built = in_language(instructors_notebook(about["assignment"]), language)
        known = {cell.name: cell for cell in source_cells(built)}
        headings = dict(_headings(built))
        contents: dict[str, list[dict]] = {}
        for graded in (cell.metadata.get("nbgrader", {}) for cell in nb.cells):
            name = graded.get("grade_id")
            if graded.get("grade") and name in known:
                contents.setdefault(headings[name], []).append(
                    graded | {"words": language(in_words(known[name]))}
                )
        about["contents"] = contents
        about["is_excused"] = about["student"] in Decisions(Path.cwd()).excused(about["assignment"])
        about["say"] = lambda template, **values: language(say(template, **values))
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
        return say("Your written answer")
    given = " ".join(cell.released.split())
    claims = [claim for claim in cell.claims.values() if claim in given]
    if len(claims) == 1:
        return claims[0]
    is_shown = cell.released == cell.source
    if not claims:
        return say("Checks in your notebook") if is_shown else say("Checks after you hand in")
    if is_shown:
        return say_count("{count} claims in your notebook", "{count} claims in your notebook", len(claims))
    return say_count("{count} claims after you hand in", "{count} claims after you hand in", len(claims))
