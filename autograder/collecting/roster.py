"""The roster: the names that platforms use for a student, and the student's id in the course."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.collecting.attempt import student_id
from autograder.collecting.tree import CollectingError

ID_COLUMNS = ("student", "id")
CANVAS_ID = "SIS Login ID"
CANVAS_NAMES = ("Student", "ID", "SIS User ID", CANVAS_ID)  # the other columns of its sheet hold marks
TEST_STUDENT = "Student, Test"  # Canvas's own, for looking at a course as a student does


@dataclass(frozen=True)
class Roster:
    """Name on a platform → id; without a roster, students have the platform's own id."""

    ids: Mapping[str, str] = field(default_factory=dict)

    def id_of(self, keys: Iterable[str]) -> tuple[str, bool]:
        """The id of a student with these names, and whether it is from the roster."""
        keys = tuple(keys)
        known = [self.ids[_spelt(key)] for key in keys if _spelt(key) in self.ids]
        return (known[0], True) if known else (student_id(keys[0]), False)

    @property
    def students(self) -> frozenset[str]:
        return frozenset(self.ids.values())


def read_roster(path: Path) -> Roster:
    """A CSV file with a column `student` (or `id`); every other column holds names that platforms use.

    `first_name` and `last_name` together are a name, too. A name that two students share identifies neither.
    The sheet that Canvas's gradebook exports is a roster, too. Raises CollectingError if no column has ids.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [_of_canvas(row) if CANVAS_ID in row else row for row in csv.DictReader(file)]
    column = next((name for name in ID_COLUMNS if rows and name in rows[0]), None)
    if column is None:
        raise CollectingError(f"{path} has no column called student; the first line names the columns.")
    ids: dict[str, set[str]] = {}
    for row in rows:
        student = (row[column] or "").strip()
        if student != student_id(student) and student:
            raise CollectingError(f"{path}: {student!r} cannot be the name of a folder.")
        for name in filter(None, _names(row)) if student else ():
            ids.setdefault(_spelt(name), set()).add(student)
    return Roster({name: min(students) for name, students in ids.items() if len(students) == 1})


def _of_canvas(row: Mapping[str, str | None]) -> dict[str, str | None]:
    """A row of Canvas's sheet as one of a roster, unless it has a column for ids already."""
    kept = {name: row[name] for name in (*ID_COLUMNS, *CANVAS_NAMES) if name in row}
    student = "" if row.get("Student") == TEST_STUDENT else row[CANVAS_ID]
    return {ID_COLUMNS[0]: student, **kept}


def _names(row: Mapping[str, str | None]) -> list[str]:
    values = [value.strip() for value in row.values() if isinstance(value, str)]
    parts = [(row.get(name) or "").strip() for name in ("first_name", "last_name")]
    apart = {(row.get(name) or "").strip() for name in ("first_name", "last_name")}
    whole = (
        [" ".join(parts), re.sub(r"[\W_]", "", parts[1] + parts[0])] if all(parts) else []
    )  # in the forms of Moodle and of Canvas
    return [value for value in values if value not in apart] + whole


def _spelt(name: str) -> str:
    """A name in a form that ignores case, the encoding of accents, and spaces at both ends."""
    return unicodedata.normalize("NFKC", name).strip().casefold()
