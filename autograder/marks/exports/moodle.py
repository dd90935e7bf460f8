"""Moodle: the assignment's grading worksheet, filled in, to be uploaded again.

In Moodle *View all submissions → Download grading worksheet* (with the feedback type "Offline grading
worksheet" on), here `autograder export HW moodle --sheet WORKSHEET.csv`, in Moodle *Upload grading
worksheet*. The format is that of mod/assign/gradingtable.php and mod/assign/feedback/offline in
github.com/moodle/moodle; feedback comments are HTML there (mod/assign/feedback/comments/locallib.php).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.marks.exports.html import as_html
from autograder.marks.exports.marks import Mark, number
from autograder.marks.exports.sheets import Filled, by_name, find, missing, read_sheet, write_sheet

NAMES = ("Username", "ID number", "Email address", "Identifier")
NEEDED = ("Identifier", "Grade", "Last modified (grade)")  # Moodle reads no worksheet without them
COMMENTS = "Feedback comments"
NOTHING = "-"  # the worksheet's sign for "no date", which is not a formula


def moodle(marks: Sequence[Mark], sheet: str, comments: Mapping[str, str] | None = None) -> Filled:
    """The worksheet with grades, scaled to Moodle's maximum, and comments as HTML; raises ExportError.

    Moodle takes no grade above its maximum, so that is what a bonus can reach here.

    comments: student → Markdown. A student is found by user name, ID number, e-mail address (or the part
    before its @), or the number of "Participant 1234". Rows of students who handed in nothing, or are
    excused, stay unchanged.
    """
    header, rows = read_sheet(sheet, NEEDED, "Moodle in English")
    known, comments = by_name(marks), comments or {}
    found = [find(_with_number(row), NAMES, known) for row in rows]
    filled = [_filled(row, mark, comments) for row, mark in zip(rows, found, strict=True)]
    notes = [f"{mark.student} is excused, which Moodle cannot record" for mark in marks if mark.excused]
    if comments and COMMENTS not in header:
        notes.append(f"the worksheet has no column {COMMENTS}, so comments were left out")
    return Filled(write_sheet(header, filled), missing(found, marks), tuple(notes))


def _with_number(row: Mapping[str, str]) -> dict[str, str]:
    return {**row, "Identifier": row["Identifier"].removeprefix("Participant ")}


def _filled(row: Mapping[str, str], mark: Mark | None, comments: Mapping[str, str]) -> dict[str, str]:
    if mark is None or mark.points is None or mark.excused:
        return dict(row)
    most = float(row.get("Maximum Grade") or mark.max_points)
    grade = mark.score * (most / mark.max_points if mark.max_points else 1.0)
    said = comments.get(mark.student)
    comment = as_html(said) if said else row.get(COMMENTS, "")
    return {**row, "Grade": number(min(grade, most)), COMMENTS: comment}
