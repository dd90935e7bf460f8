"""`autograder export`: a format's name, what it needs, and the function that makes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.marks.comments import in_brief
from autograder.marks.exports.canvas import canvas
from autograder.marks.exports.github_classroom import github_classroom
from autograder.marks.exports.gradescope import HIDDEN_UNTIL, gradescope_autograder, gradescope_results
from autograder.marks.exports.marks import ExportError, Mark, marks_of
from autograder.marks.exports.moodle import moodle
from autograder.marks.exports.nbgrader_csv import nbgrader_csv
from autograder.marks.exports.sheets import Filled
from autograder.marks.hand_marks import hand_marks
from autograder.marks.records import RecordFolder
from autograder.markup import one_line
from autograder.source.address import Address
from autograder.source.loading import find, require_name


@dataclass(frozen=True)
class Export:
    """What to export, and from where; `sheet` is the file that the platform itself exported."""

    root: Path
    homework: str
    sheet: Path | None = None
    student: str | None = None
    gradebook: str | None = None  # the URL of its database
    column: str | None = None  # of the assignment in Canvas's sheet
    stop_if_unmarked: bool = False
    hidden: str = HIDDEN_UNTIL[0]  # when Gradescope shows how a hidden check ended

    @cached_property
    def marks(self) -> list[Mark]:
        """All marks; raises ExportError if it should stop while answers are unmarked."""
        found = marks_of(self.root, self.homework, self.gradebook)
        if self.stop_if_unmarked and (waiting := unmarked(found)):
            raise ExportError(f"Nothing was exported: {waiting}")
        return found

    def sheet_text(self) -> str:
        if self.sheet is None:
            raise ExportError("This format fills in the platform's own sheet: give it with --sheet FILE.")
        return self.sheet.read_text(encoding="utf-8-sig")


@dataclass(frozen=True)
class Exported:
    """A file, and notes about it."""

    content: bytes
    notes: tuple[str, ...] = ()


def export(wanted: Export, form: str) -> Exported:
    """The file in one of FORMATS; raises ExportError or SourceError, which say what is missing."""
    require_name(wanted.homework, wanted.root)
    made = FORMATS[form](wanted)
    return (
        made if isinstance(made, Exported) else Exported(made if isinstance(made, bytes) else made.encode())
    )


def unmarked(marks: Sequence[Mark]) -> str:
    """A sentence on the students whose written answers a person must still mark, or nothing."""
    waiting = [one_line(mark.student) for mark in marks if mark.waits_for_a_person and not mark.excused]
    if not waiting:
        return ""
    students = "1 student" if len(waiting) == 1 else f"{len(waiting)} students"
    listed = ", ".join(waiting[:20]) + (", …" if len(waiting) > 20 else "")
    return (
        f"answers of {students} must still be marked by hand; here they count as before, or as 0 if "
        f"nobody has marked them: {listed}"
    )


def _sheet(wanted: Export, filled: Filled) -> Exported:
    """A platform's sheet, with a note on all students whose marks are not in it."""
    lost = ", ".join(map(one_line, filled.missing))
    notes = [*filled.notes, *([f"the sheet has no row for: {lost}"] if lost else [])]
    return _of_marks(wanted, filled.text, notes)


def _of_marks(wanted: Export, text: str, notes: Sequence[str] = ()) -> Exported:
    waiting = unmarked(wanted.marks)
    return Exported(text.encode(), (*notes, *([waiting] if waiting else [])))


def _csv(wanted: Export) -> Exported:
    return _of_marks(wanted, nbgrader_csv(wanted.homework, wanted.marks))


def _canvas(wanted: Export) -> Exported:
    return _sheet(wanted, canvas(wanted.homework, wanted.marks, wanted.sheet_text(), wanted.column))


def _moodle(wanted: Export) -> Exported:
    homework = find(wanted.homework, wanted.root)
    records = RecordFolder(wanted.root / "grades", wanted.homework).all()
    given = hand_marks(wanted.root, wanted.homework, wanted.gradebook)
    comments = {one.student: in_brief(one, homework, given[one.student]) for one in records}
    return _sheet(wanted, moodle(wanted.marks, wanted.sheet_text(), comments))


def _gradescope(wanted: Export) -> str:
    records = {
        record.student: record for record in RecordFolder(wanted.root / "grades", wanted.homework).all()
    }
    if wanted.student is None and len(records) == 1:
        [record] = records.values()
    elif wanted.student in records:
        record = records[wanted.student]
    else:
        students = ", ".join(map(one_line, records)) or "none"
        raise ExportError(f"Gradescope takes one student at a time: --student, one of {students}.")
    results = gradescope_results(record, find(wanted.homework, wanted.root), wanted.hidden)
    return json.dumps(results, indent=1) + "\n"


FORMATS: Mapping[str, Callable[[Export], Exported | str | bytes]] = {
    "csv": _csv,
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
    "gradescope-autograder": lambda wanted: gradescope_autograder(
        wanted.root, wanted.homework, wanted.hidden
    ),
    "github-classroom": lambda wanted: github_classroom(wanted.homework, Address.read(wanted.root)),
}
