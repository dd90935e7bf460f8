"""The autograded notebook: the rebuilt submission, with outputs that follow from the record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from autograder.marks.records import CheckRecord, SubmissionRecord
from autograder.markup import harmless_attachments, harmless_markdown, plain_text
from autograder.source.notebook import notebook, notebook_cell
from autograder.submissions.repair import RepairedCell

LONGEST_OUTPUT = 20_000  # characters per cell
LONGEST_TEXT = 100_000  # characters of a text cell; pages of longer ones take minutes to make


def autograded_notebook(
    cells: Sequence[RepairedCell],
    outputs: Mapping[int, list[dict]],
    record: SubmissionRecord,
    texts: Collection[str] = (),
) -> dict:
    """A notebook for nbgrader's tools.

    outputs: those of the student's cells, by position. texts: the course's own, whose markup is left alone.
    """
    checks = {check.name: check for exercise in record.exercises for check in exercise.checks}
    shown = []
    for position, cell in enumerate(cells):
        made = notebook_cell(_cell_id(position, cell), *_kind_and_text(cell, texts), _metadata(cell))
        check = checks.get(cell.of.name) if cell.of else None
        shown.append(made | _additions(cell, check_outputs(check) if check else outputs.get(position, [])))
    return notebook([*_notes(record), *shown])


def _cell_id(position: int, cell: RepairedCell) -> str:
    return cell.of.name if cell.of else f"handed-in-{position}"


def _metadata(cell: RepairedCell) -> dict:
    return {"nbgrader": dict(cell.of.nbgrader)} if cell.of else {}


def _kind_and_text(cell: RepairedCell, texts: Collection[str]) -> tuple[str, str]:
    if cell.kind == "code":
        return "code", plain_text(cell.source)
    if cell.source in texts:
        return "markdown", cell.source
    return "markdown", harmless_markdown(
        plain_text(cell.source, limit=LONGEST_TEXT), harmless_attachments(cell.attachments)
    )


def _additions(cell: RepairedCell, outputs: list[dict]) -> dict:
    """What a cell has besides its text: outputs, or pictures pasted into it."""
    if cell.kind == "code":
        return {"outputs": outputs}
    attachments = harmless_attachments(cell.attachments)
    return {"attachments": attachments} if attachments else {}


def _notes(record: SubmissionRecord) -> list[dict]:
    """What a reader must know before the first cell: why it could not be run, what was repaired."""
    problem = (
        [f"**This submission could not be graded automatically.** {record.problem}"] if record.problem else []
    )
    lines = [
        harmless_markdown(line)
        for line in [*problem, *(f"- {said}" for said in (*record.flags, *record.notes))]
    ]
    return [notebook_cell("grader-notes", "markdown", "\n\n".join(lines))] if lines else []


def check_outputs(check: CheckRecord) -> list[dict]:
    """A check cell's output: nbgrader reads an error as no points, anything else as full points."""
    message = plain_text(check.message, limit=LONGEST_OUTPUT)
    if check.result == "passed":
        return [stream(f"✓ {message}\n")]
    return [
        error("CheckFailed", f"✗ {message}") if check.result == "failed" else error("CouldNotRun", message)
    ]


def stream(text: str) -> dict:
    return {"output_type": "stream", "name": "stdout", "text": plain_text(text, limit=LONGEST_OUTPUT)}


def error(name: str, message: str) -> dict:
    lines = plain_text(message, limit=LONGEST_OUTPUT).splitlines() or [name]
    return {"output_type": "error", "ename": name, "evalue": lines[0], "traceback": lines}
