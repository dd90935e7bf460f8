"""Canvas: the gradebook's own export, filled in for one assignment, to be imported again.

Canvas knows a student by the columns of its export, so the marks are written into that sheet: in Canvas
*Grades → Export*, here `autograder export HW canvas --sheet EXPORT.csv`, in Canvas *Grades → Import*.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.marks.exports.marks import Mark, number
from autograder.marks.exports.sheets import by_name, complain_about_missing, find, read_sheet, write_sheet

WHO = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
NAMES = ("SIS Login ID", "SIS User ID", "ID")
POINTS_POSSIBLE = "Points Possible"


def canvas(homework: str, marks: Sequence[Mark], sheet: str) -> str:
    """The sheet with the students' columns and one column of scores; raises ExportError.

    The assignment's column is the one that Canvas has already ("HW (12345)"), otherwise a new one, for which
    Canvas asks at import. Who handed in nothing is left empty, which Canvas leaves as it is.
    """
    header, rows = read_sheet(sheet, ("Student", "ID"), "Canvas")
    column = next((name for name in header if name == homework or name.startswith(f"{homework} (")), homework)
    kept = [name for name in header if name in WHO]
    known = by_name(marks)
    found = [None if _is_points_possible(row) else find(row, NAMES, known) for row in rows]
    complain_about_missing(found, marks, "Canvas")
    most = number(marks[0].max_points) if marks else ""
    filled = [
        {**row, column: most if _is_points_possible(row) else _score(mark)}
        for row, mark in zip(rows, found, strict=True)
    ]
    return write_sheet([*kept, column], filled)


def _is_points_possible(row: dict[str, str]) -> bool:
    return row["Student"].strip() == POINTS_POSSIBLE


def _score(mark: Mark | None) -> str:
    return "" if mark is None or mark.points is None else number(mark.score)
