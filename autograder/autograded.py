"""The autograded notebook: the rebuilt submission, with outputs that follow from the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.markup import harmless_attachments, harmless_markdown, plain_text
from autograder.notebook import notebook, notebook_cell
from autograder.records import CheckRecord, SubmissionRecord
from autograder.repair import RepairedCell

LONGEST_OUTPUT = 20_000  # characters per cell


def autograded_notebook(
    cells: Sequence[RepairedCell], outputs: Mapping[int, list[dict]], record: SubmissionRecord
) -> dict:
    """A notebook for nbgrader's tools; `outputs` are those of the student's cells, by position."""
    checks = {check.name: check for exercise in record.exercises for check in exercise.checks}
    graded = [_cell(position, cell, checks, outputs.get(position, [])) for position, cell in enumerate(cells)]
    return notebook([*_notes(record), *graded])


def _cell(position: int, cell: RepairedCell, checks: Mapping[str, CheckRecord], outputs: list[dict]) -> dict:
    metadata = {"nbgrader": dict(cell.of.nbgrader)} if cell.of else {}
    cell_id = cell.of.name if cell.of else f"handed-in-{position}"
    if cell.kind != "code":
        return _text_cell(cell_id, cell, metadata)
    made = notebook_cell(cell_id, "code", plain_text(cell.source), metadata)
    name = cell.of.name if cell.of else ""
    return {**made, "outputs": check_outputs(checks[name]) if name in checks else outputs}


def _text_cell(cell_id: str, cell: RepairedCell, metadata: dict) -> dict:
    text = cell.source if cell.is_ours else harmless_markdown(cell.source)
    made = notebook_cell(cell_id, "markdown", text, metadata)
    attachments = harmless_attachments(cell.attachments)
    return {**made, "attachments": attachments} if attachments else made


def _notes(record: SubmissionRecord) -> list[dict]:
    """What a reader must know before the first cell: why it could not be run, what was repaired."""
    problem = (
        [f"**This submission could not be graded automatically.** {record.problem}"] if record.problem else []
    )
    lines = [harmless_markdown(line) for line in [*problem, *(f"- {flag}" for flag in record.flags)]]
    return [notebook_cell("grader-notes", "markdown", "\n\n".join(lines))] if lines else []


def check_outputs(check: CheckRecord) -> list[dict]:
    """A check cell's output: nbgrader reads an error as no points, anything else as full points."""
    message = plain_text(check.message, limit=LONGEST_OUTPUT)
    if check.result == "passed":
        return [stream(message + "\n")]
    name = "CheckFailed" if check.result == "failed" else "CouldNotRun"
    return [error(name, message)]


def stream(text: str) -> dict:
    return {"output_type": "stream", "name": "stdout", "text": plain_text(text, limit=LONGEST_OUTPUT)}


def error(name: str, message: str) -> dict:
    lines = plain_text(message, limit=LONGEST_OUTPUT).splitlines() or [name]
    return {"output_type": "error", "ename": name, "evalue": lines[0], "traceback": lines}
