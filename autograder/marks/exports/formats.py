"""`autograder export`: a format's name, what it needs, and the function that makes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.marks.comments import mistakes_of
from autograder.marks.exports.canvas import canvas
from autograder.marks.exports.github_classroom import github_classroom
from autograder.marks.exports.gradescope import gradescope_autograder, gradescope_results
from autograder.marks.exports.marks import ExportError, Mark, marks_of
from autograder.marks.exports.moodle import moodle
from autograder.marks.exports.nbgrader_csv import nbgrader_csv
from autograder.marks.records import RecordFolder
from autograder.markup import one_line
from autograder.source.address import Address
from autograder.source.loading import find, require_name


@dataclass(frozen=True)
class Export:
    """What is to be exported, from where; `sheet` is what the platform itself exported."""

    root: Path
    homework: str
    sheet: Path | None = None
    student: str | None = None
    gradebook: str | None = None  # the URL of its database

    def marks(self) -> list[Mark]:
        return marks_of(self.root, self.homework, self.gradebook)

    def sheet_text(self) -> str:
        if self.sheet is None:
            raise ExportError("This format fills in the platform's own sheet: give it with --sheet FILE.")
        return self.sheet.read_text(encoding="utf-8-sig")


def export(wanted: Export, form: str) -> bytes:
    """The file in one of FORMATS, as bytes; raises ExportError or SourceError with what is missing."""
    require_name(wanted.homework, wanted.root)
    made = FORMATS[form](wanted)
    return made if isinstance(made, bytes) else made.encode("utf-8")


def _csv(wanted: Export) -> str:
    return nbgrader_csv(wanted.homework, wanted.marks())


def _canvas(wanted: Export) -> str:
    return canvas(wanted.homework, wanted.marks(), wanted.sheet_text())


def _moodle(wanted: Export) -> str:
    homework = find(wanted.homework, wanted.root)
    records = RecordFolder(wanted.root / "grades", wanted.homework).all()
    comments = {record.student: "\n\n".join(mistakes_of(record, homework).values()) for record in records}
    return moodle(wanted.marks(), wanted.sheet_text(), comments)


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
    return json.dumps(gradescope_results(record, find(wanted.homework, wanted.root)), indent=1) + "\n"


FORMATS: Mapping[str, Callable[[Export], str | bytes]] = {
    "csv": _csv,
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
    "gradescope-autograder": lambda wanted: gradescope_autograder(wanted.root, wanted.homework),
    "github-classroom": lambda wanted: github_classroom(wanted.homework, Address.read(wanted.root)),
}
