"""CSV sheets of a platform: read a download, fill it in, and write it in the form the platform reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.marks.exports.marks import ExportError, Mark
from autograder.markup import plain_text

FORMULA_SIGNS = tuple("=+-@＝＋－＠")


@dataclass(frozen=True)
class Filled:
    """A sheet as text, the students with a mark but no row in it, and notes."""

    text: str
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_sheet(text: str, needed: Iterable[str], platform: str) -> tuple[list[str], list[dict[str, str]]]:
    """The header and the rows of a sheet; raises ExportError if a required column is missing."""
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    separator = ";" if first.count(";") > first.count(",") else ","  # as in countries with a decimal comma
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    header = list(reader.fieldnames or ())
    missing = [column for column in needed if column not in header]
    if missing:
        columns = f"no column {', '.join(missing)}, but {', '.join(header)}"
        raise ExportError(f"This is not a sheet from {platform}: it has {columns}. Export it there again.")
    return header, [{column: row[column] or "" for column in header} for row in reader]


def write_sheet(header: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """The sheet as text, in which no cell is a formula."""
    out = io.StringIO()
    writer = csv.DictWriter(out, header, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({column: harmless(row.get(column, "")) for column in header} for row in rows)
    return out.getvalue()


def harmless(cell: str) -> str:
    """A student's text without control characters, and with an apostrophe before anything like a formula.

    Spreadsheets ignore spaces, line breaks and invisible characters, and read full-width signs like others.
    """
    cell = plain_text(cell).replace("\r\n", "\n").replace("\r", " ")
    first = next((mark for mark in cell if mark.isprintable() and mark != " "), "")
    is_formula = first in FORMULA_SIGNS and not (first == "-" and (_is_number(cell) or cell == "-"))
    return f"'{cell}" if is_formula or cell[:1] == "\t" else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def find(row: Mapping[str, str], columns: Iterable[str], marks: Mapping[str, Mark]) -> Mark | None:
    """The mark of a row's student: the first of the columns that names a known one."""
    for column in columns:
        name = row.get(column, "").strip().lower()
        for known in (name, name.partition("@")[0]):
            if known in marks:
                return marks[known]
    return None


def by_name(marks: Iterable[Mark]) -> dict[str, Mark]:
    """Marks by the names that a platform may use for a student: the id used here, and the e-mail address."""
    marks = list(marks)
    emails = {mark.email.lower(): mark for mark in marks if mark.email}
    return emails | {mark.student.lower(): mark for mark in marks}


def missing(found: Iterable[Mark | None], marks: Iterable[Mark]) -> tuple[str, ...]:
    """The students with a mark but no row: some leave, and a sheet may contain only one section."""
    there = {mark.student for mark in found if mark is not None}
    return tuple(sorted(mark.student for mark in marks if mark.has_mark and mark.student not in there))
