"""Moodle: the assignment's grading worksheet, filled in, to be uploaded again.

In Moodle *View all submissions → Download grading worksheet* (with the feedback type "Offline grading
worksheet" on), here `autograder export HW moodle --sheet WORKSHEET.csv`, in Moodle *Upload grading
worksheet*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.marks.exports.marks import Mark, number
from autograder.marks.exports.sheets import by_name, complain_about_missing, find, read_sheet, write_sheet

NAMES = ("Username", "ID number", "Email address", "Identifier")


def moodle(marks: Sequence[Mark], sheet: str, comments: Mapping[str, str] | None = None) -> str:
    """The worksheet with grades, scaled to Moodle's maximum, and comments; raises ExportError.

    A student is known by user name, ID number, e-mail address (or what stands before its @), or the number of
    "Participant 1234". Who handed in nothing keeps what the worksheet says.
    """
    header, rows = read_sheet(sheet, ("Identifier", "Grade"), "Moodle")
    known, comments = by_name(marks), comments or {}
    found = [find(_with_number(row), NAMES, known) for row in rows]
    complain_about_missing(found, marks, "Moodle")
    filled = [_filled(row, mark, comments) for row, mark in zip(rows, found, strict=True)]
    return write_sheet(header, filled)


def _with_number(row: Mapping[str, str]) -> dict[str, str]:
    return {**row, "Identifier": row["Identifier"].removeprefix("Participant ")}


def _filled(row: Mapping[str, str], mark: Mark | None, comments: Mapping[str, str]) -> dict[str, str]:
    if mark is None or mark.points is None:
        return dict(row)
    scale = float(row.get("Maximum Grade") or mark.max_points) / mark.max_points if mark.max_points else 1.0
    comment = comments.get(mark.student, row.get("Feedback comments", ""))
    return {**row, "Grade": number(scale * mark.score), "Feedback comments": comment}
