"""The autograded notebook: the rebuilt submission, with outputs that follow from the record."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from autograder.languages.notebooks import in_metadata
from autograder.marks.records import CheckRecord, SubmissionRecord
from autograder.markup import harmless_attachments, harmless_markdown, plain_text
from autograder.source.notebook import notebook, notebook_cell
from autograder.source.released import SourceCell
from autograder.submissions.repair import RepairedCell
from course.language import ENGLISH, Language, say

LONGEST_OUTPUT = 20_000  # characters per cell
LONGEST_TEXT = 100_000  # characters of a text cell; pages of longer ones take minutes to make


def autograded_notebook(
    cells: Sequence[RepairedCell],
    outputs: Mapping[int, list[dict]],
    record: SubmissionRecord,
    texts: Collection[str] = (),
    earned: Mapping[str, float | None] | None = None,
    language: Language = ENGLISH,
) -> dict:
    """A notebook for nbgrader's tools.

    outputs: those of the student's cells, by position. texts: the course's own, whose markup is kept.
    earned: the points of each check cell; None if a person must decide. language: of the student.
    """
    checks = {check.name: check for exercise in record.exercises for check in exercise.checks}
    shown = []
    for position, cell in enumerate(cells):
        made = notebook_cell(_cell_id(position, cell), *_kind_and_text(cell, texts), _metadata(cell))
        points = (earned or {}).get(cell.of.name) if cell.of else None
        there = check_outputs(cell.of, checks, points, language) if cell.of else []
        shown.append(made | _additions(cell, there or outputs.get(position, [])))
    return notebook([*_notes(record, language), *shown], in_metadata(language))


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
    """What a cell has in addition to its text: outputs, or pictures pasted into it."""
    if cell.kind == "code":
        return {"outputs": outputs}
    attachments = harmless_attachments(cell.attachments)
    return {"attachments": attachments} if attachments else {}


def _notes(record: SubmissionRecord, language: Language) -> list[dict]:
    """What a reader must know before the first cell: why it could not be run, what was repaired."""
    problem, *notes = (record.said.get(text, text) for text in (record.problem, *record.flags, *record.notes))
    lines = [f"- {note}" for note in notes]
    if problem:
        sentence = language(
            say("**This submission could not be graded automatically.** {problem}", problem=problem)
        )
        lines = [sentence, *lines]
    lines = [harmless_markdown(line) for line in lines]
    return [notebook_cell("grader-notes", "markdown", "\n\n".join(lines))] if lines else []


def check_outputs(
    cell: SourceCell,
    checks: Mapping[str, CheckRecord],
    earned: float | None,
    language: Language = ENGLISH,
) -> list[dict]:
    """What a cell of checks shows: each claim, why it does not hold, and the points, as nbgrader reads them.

    nbgrader reads a number as partial credit, an error as no points, and anything else as full points.
    Nothing for a cell without a recorded check.
    """
    found = [checks[name] for name in dict.fromkeys([cell.name, *cell.claims]) if name in checks]
    if not found:
        return []
    claims = {name: language(claim) for name, claim in cell.claims.items()}
    shown = [stream("".join(_check_lines(found, claims)))]
    broken = [check.in_words for check in found if check.result == "could_not_run"]
    if broken:
        return [*shown, error("CouldNotRun", broken[0])]
    if all(check.result == "passed" for check in found) or not cell.nbgrader.get("points"):
        return shown  # a bonus is nothing to nbgrader: it takes a number above the maximum, 0, for an error
    return [*shown, partial_credit(earned or 0.0)]


def _check_lines(checks: Iterable[CheckRecord], claims: Mapping[str, str]) -> Iterator[str]:
    """Each claim with its sign; a message that repeats the one before is left out."""
    before = ""
    for check in checks:
        claim = claims.get(check.name, "")
        if check.result == "passed":
            yield f"✓ {claim or check.in_words}\n"
            note = check.in_words.removeprefix(claim).strip() if claim else ""
            yield from [textwrap.indent(note, "    ") + "\n"] if note != before else []
            before = note
            continue
        sign = "✗" if check.result == "failed" else "–"
        message = plain_text(check.in_words, limit=LONGEST_OUTPUT)
        yield f"{sign} {claim or message}\n"
        if claim and message != before:
            yield textwrap.indent(message, "    ") + "\n"
        before = message


def partial_credit(points: float) -> dict:
    """The output that nbgrader takes for a cell's points."""
    data = {"text/plain": repr(points)}
    return {"output_type": "execute_result", "execution_count": None, "data": data, "metadata": {}}


def stream(text: str) -> dict:
    return {"output_type": "stream", "name": "stdout", "text": plain_text(text, limit=LONGEST_OUTPUT)}


def error(name: str, message: str) -> dict:
    lines = plain_text(message, limit=LONGEST_OUTPUT).splitlines() or [name]
    return {"output_type": "error", "ename": name, "evalue": lines[0], "traceback": lines}
