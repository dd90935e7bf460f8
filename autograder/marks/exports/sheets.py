"""CSV sheets of a platform: read as they were downloaded, filled in, written as the platform reads them."""

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
    """A sheet as text, the students with a mark who have no row in it, and what is good to know."""

    text: str
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_sheet(text: str, needed: Iterable[str], platform: str) -> tuple[list[str], list[dict[str, str]]]:
    """The header and the rows of a sheet; raises ExportError if a column that is needed is missing."""
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    separator = ";" if first.count(";") > first.count(",") else ","  # as in countries with a decimal comma
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    header = list(reader.fieldnames or ())
    missing = [column for column in needed if column not in header]
    if missing:
        columns = f"no column {', '.join(missing)}, but {', '.join(header)}"
        raise ExportError(f"This is not a sheet of {platform}: it has {columns}.")
    return header, [{column: row[column] or "" for column in header} for row in reader]


def write_sheet(header: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """The sheet as text, every cell of it harmless."""
    out = io.StringIO()
    writer = csv.DictWriter(out, header, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({column: harmless(row.get(column, "")) for column in header} for row in rows)
    return out.getvalue()


def harmless(cell: str) -> str:
    """Text of a student's without control characters, and an apostrophe before what would be a formula.

    Spreadsheets pass over spaces, line breaks and what cannot be seen, and take wide signs for narrow ones.
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
    """The mark of the student whom a row is about: the first of the columns that names one we know."""
    for column in columns:
        name = row.get(column, "").strip().lower()
        for known in (name, name.partition("@")[0]):
            if known in marks:
                return marks[known]
    return None


def by_name(marks: Iterable[Mark]) -> dict[str, Mark]:
    """Marks by what a platform may call the student: the id here, and the e-mail address."""
    marks = list(marks)
    emails = {mark.email.lower(): mark for mark in marks if mark.email}
    return emails | {mark.student.lower(): mark for mark in marks}


def missing(found: Iterable[Mark | None], marks: Iterable[Mark]) -> tuple[str, ...]:
    """Who has a mark and no row: students leave, and a sheet may hold one section."""
    there = {mark.student for mark in found if mark is not None}
    return tuple(mark.student for mark in marks if mark.has_mark and mark.student not in there)
