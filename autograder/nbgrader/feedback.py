"""A preprocessor for `nbgrader generate_feedback` that removes hidden checks and students' markup."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode, from_dict
from nbgrader.utils import determine_grade
from traitlets import Bool

from autograder.grading.autograded import check_outputs, partial_credit, stream
from autograder.grading.redaction import DOES_NOT_HOLD
from autograder.languages.catalogues import language_of
from autograder.languages.editions import edition
from autograder.marks.records import CheckRecord, RecordFolder, SubmissionRecord
from autograder.markup import harmless_attachments, harmless_markdown, harmless_pictures, plain_text
from autograder.source.released import SourceCell
from course.language import Language


class Feedback(Preprocessor):
    """The student's feedback: their own text, our messages, and the checks that were released."""

    enabled = Bool(True, help="whether to use it").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Show each check as it was released, with the record's message, and the rest made harmless."""
        about = resources["nbgrader"]
        name, record = about["assignment"], recorded(about["assignment"], about["student"])
        language = language_of_student(name, about["student"])
        made = edition(instructors_notebook(name), language)
        source = {cell.name: cell for cell in made.source}
        checks = recorded_checks(record)
        for cell in nb.cells:
            known = source.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            if known is not None and known.role == "check":
                _show_check(cell, known, checks, language)
            else:
                _make_harmless(cell, made.texts)
        return nb, resources


def instructors_notebook(homework: str) -> dict:
    """The source notebook of the release, with its solutions, in this course's folder."""
    return json.loads(Path("solutions", homework, f"{homework}.ipynb").read_text(encoding="utf-8"))


def language_of_student(homework: str, student: str) -> Language:
    """The language of a student's notebook, as this grader recorded it; English if it did not."""
    record = recorded(homework, student)
    return language_of(Path.cwd(), record.language if record else "", homework)


def recorded(homework: str, student: str) -> SubmissionRecord | None:
    """This grader's record of a student; None if another grader was used."""
    return RecordFolder(Path("grades"), homework).find(student)


def recorded_checks(record: SubmissionRecord | None) -> Mapping[str, CheckRecord]:
    """The checks of a record, by name."""
    exercises = record.exercises if record else ()
    return {check.name: check for exercise in exercises for check in exercise.checks}


def _show_check(
    cell: NotebookNode, known: SourceCell, checks: Mapping[str, CheckRecord], language: Language
) -> None:
    """Show the cell as released; its outputs follow from the record, or else say only whether it passed."""
    points, most = determine_grade(cell)
    cell.source = known.released
    told = check_outputs(known, checks, points, language)
    if told and _texts(told) == _texts(cell.outputs):
        outputs = told
    elif known.released == known.source:
        _make_harmless(cell)
        return
    elif points == most:
        outputs = [stream("✓\n")]
    else:
        outputs = [stream(f"✗ {language(DOES_NOT_HOLD)}\n"), partial_credit(points)]
    cell.outputs = [from_dict(output) for output in outputs]


def _texts(outputs: Iterable[Mapping]) -> list[str]:
    """The plain text of each output."""
    return [
        output.get("text") or output.get("evalue") or output.get("data", {}).get("text/plain", "")
        for output in outputs
    ]


def _make_harmless(cell: NotebookNode, texts: Collection[str] = ()) -> None:
    if cell.cell_type == "code":
        cell.outputs = [kept for output in cell.outputs if (kept := _harmless_output(output)) is not None]
        return
    if cell.source not in texts:
        cell.source = harmless_markdown(cell.source, harmless_attachments(cell.get("attachments", {})))
    if "attachments" in cell:
        cell.attachments = from_dict(harmless_attachments(cell.attachments))


def _harmless_output(output: NotebookNode) -> NotebookNode | None:
    """Keep text and pictures; remove everything that could carry a script."""
    if output.output_type in ("stream", "error"):
        return output
    text = {"text/plain": plain_text(str(output.data["text/plain"]))} if "text/plain" in output.data else {}
    output.data = from_dict(text | harmless_pictures(output.data))
    return output if output.data else None
