"""The grader inside stock nbgrader, by configuration alone: two lines of nbgrader_config.py."""

from __future__ import annotations

from pathlib import Path

import nbgrader
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from traitlets import Bool
from traitlets.config import Config

# nbgrader's own templates load MathJax from the network to show formulas; ours do not.
OURS = Path(__file__).with_name("templates")
NBGRADERS = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"

BADGE = "[![Open in Colab]("


class WithoutBadge(Preprocessor):
    """Remove the badge that opens a notebook in Colab: its picture would be loaded from the network."""

    enabled = Bool(True, help="whether to use it").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        nb.cells = [cell for cell in nb.cells if not cell.source.startswith(BADGE)]
        return nb, resources


SANITIZE = ("ClearOutput", "DeduplicateIds", "OverwriteKernelspec", "OverwriteCells", "CheckCellMetadata")
SAVE = ("AssignLatePenalties", "CheckCellMetadata")


def use_judge(c: Config) -> None:
    """Make `nbgrader autograde` repair submissions, run them in the sandbox and judge them outside it."""
    c.Autograde.sanitize_preprocessors = ["autograder.nbgrader.judge.Repair", *_of_nbgrader(SANITIZE)]
    c.Autograde.autograde_preprocessors = [
        "autograder.nbgrader.judge.Judge",
        *_of_nbgrader(("IgnorePattern",)),
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        *_of_nbgrader(("LimitOutput",)),
        "autograder.nbgrader.judge.Save",
        *_of_nbgrader(SAVE),
    ]


def use_feedback(c: Config) -> None:
    """Make `nbgrader generate_feedback` leave out hidden checks and students' markup.

    Its pages and those of formgrader are self-contained: they show formulas without a network.
    """
    formulas, without_badge = (
        "autograder.reporting.formulas.Formulas",
        "autograder.nbgrader.plugin.WithoutBadge",
    )
    c.HTMLExporter.preprocessors = [formulas, without_badge]  # for formgrader
    # In feedback, formulas come after Feedback, which would take their MathML for a student's markup.
    c.GenerateFeedback.HTMLExporter.preprocessors = [without_badge]
    c.HTMLExporter.extra_template_basedirs = [str(OURS), str(NBGRADERS)]
    c.HTMLExporter.template_file = "course.html.j2"  # not a name of nbgrader's, so ours extend them
    c.HTMLExporter.filters = {"prose": "autograder.reporting.prose.prose"}
    c.GenerateFeedback.preprocessors = [
        "autograder.nbgrader.feedback.Feedback",
        formulas,
        "autograder.nbgrader.penalties.Penalties",
        *_of_nbgrader(("GetGrades",)),
        "autograder.nbgrader.contents.Contents",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]


def _of_nbgrader(names: tuple[str, ...]) -> list[str]:
    return [f"nbgrader.preprocessors.{name}" for name in names]
