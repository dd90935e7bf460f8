"""Canvas: the gradebook's own export, filled in for one assignment, to be imported again.

Canvas knows a student by the columns of its export, so the marks are written into that sheet: in Canvas
*Grades → Export*, here `autograder export HW canvas --sheet EXPORT.csv`, in Canvas *Grades → Import*. The
format: lib/gradebook_exporter.rb and lib/gradebook_importer.rb in github.com/instructure/canvas-lms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from autograder.marks.exports.marks import EXCUSED, ExportError, Mark, number
from autograder.marks.exports.sheets import Filled, by_name, find, missing, read_sheet, write_sheet
from autograder.markup import one_line

WHO = (
    *("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID"),
    *("Integration ID", "Root Account", "Section"),
)
NAMES = ("SIS Login ID", "SIS User ID", "ID")
POINTS_POSSIBLE = "Points Possible"
READ_ONLY = "(read only)"
WITH_ID = re.compile(r"(?P<title>.*) \((?P<id>\d+)\)", re.DOTALL)
NOT_ASSIGNED = "N/A"


def canvas(homework: str, marks: Sequence[Mark], sheet: str, column: str | None = None) -> Filled:
    """The sheet with the students' columns and one column of scores; raises ExportError.

    column: the assignment's title, its id, or both as Canvas writes them; None looks for the homework's name.
    Scores are scaled to the points that the assignment has in Canvas. A student who handed in nothing
    keeps what is there; one who is excused gets EX.
    """
    header, rows = read_sheet(sheet, ("ID", "Section"), "Canvas")
    possible = next((row for row in rows if _is_points_possible(row)), {})
    name = _column(header, possible, column or homework)
    known = by_name(marks)
    found = [None if _is_no_student(row) else find(row, NAMES, known) for row in rows]
    most = marks[0].max_points if marks else 0.0
    worth = _points(possible.get(name, ""), most)
    filled = [
        {**row, name: row[name] if _is_no_student(row) else _score(row[name], mark, worth)}
        for row, mark in zip(rows, found, strict=True)
    ]
    scaled = f"scaled from {number(most)} points to the {number(worth)} that Canvas has for {name}"
    kept = [title for title in header if title in WHO]
    text = write_sheet([*kept, name], filled)
    return Filled(text, missing(found, marks), (scaled,) if worth != most else ())


def _column(header: Iterable[str], possible: Mapping[str, str], wanted: str) -> str:
    """The assignment's existing column; a new one would create a second assignment in Canvas."""
    assignments = [title for title in header if title not in WHO and READ_ONLY not in possible.get(title, "")]
    found = [title for title in assignments if wanted in _names(title)]
    if len(found) == 1:
        return found[0]
    what = f"no assignment called {wanted}" if not found else f"{len(found)} assignments called {wanted}"
    listed = "; ".join(map(one_line, found or assignments)) or "none"
    raise ExportError(f"The sheet of Canvas has {what}. Name one with --column: {listed}.")


def _names(title: str) -> set[str]:
    """The names that select a column: "HW 1 (9917)" → "HW 1 (9917)", "HW 1" and "9917"."""
    parts = WITH_ID.fullmatch(title)
    return {title, *(parts.groups() if parts else ())}


def _is_points_possible(row: Mapping[str, str]) -> bool:
    return POINTS_POSSIBLE in (row.get("Student") or row.get("LastName") or "")


def _is_no_student(row: Mapping[str, str]) -> bool:
    """Points possible, and the row that says which assignments are posted by hand."""
    return _is_points_possible(row) or not any(row.get(title, "").strip() for title in WHO)


def _points(cell: str, otherwise: float) -> float:
    """The points of an assignment in Canvas."""
    try:
        return float(cell) or otherwise
    except ValueError:
        return otherwise


def _score(there: str, mark: Mark | None, worth: float) -> str:
    if mark is None or there.strip() == NOT_ASSIGNED:
        return there
    if mark.excused:
        return EXCUSED
    if mark.points is None:
        return there
    return number(mark.score * worth / mark.max_points if mark.max_points else 0.0)
