"""Everything that a course keeps of one student: where it is, and in one zip to hand over."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from nbgrader.api import Student
from nbgrader.coursedir import CourseDirectory

from autograder.marks.backup import RECORDS, Database, new_zip
from autograder.marks.database import in_a_sentence
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.records import RecordFolder
from autograder.marks.settings import course_config

README = """Everything that this course keeps of the student {name}.

submitted/       what was handed in; attempts that do not count are in submitted/.kept/
autograded/      the notebooks as they were graded
feedback/        the pages that were written for the student
grades/          one record per homework: how every check ended
log.json         the student's lines of the log: excuses, extensions, changes of marks, and who decided
gradebook.json   the student's rows of the gradebook, by table: marks and comments by hand (manual_score,
                 manual_comment) and by the grader (auto_score, auto_comment), extensions
serve.json       the student's rows of the website's database, by table: attempts, verdicts, marks of answers
attempts/        the notebooks handed in on the website, to which serve.json refers

Whatever is missing here was not kept. Times in the databases are in UTC. In place of the number of a
homework, a cell or a rubric's item stands what it is called; other ids connect the rows of a file.
"""


@dataclass(frozen=True)
class OneStudent:
    """A student of the course in this folder, and the databases that may have rows of theirs."""

    name: str
    root: Path
    databases: Sequence[Database]

    @property
    def is_known(self) -> bool:
        """Whether anything is kept of them."""
        return bool(self.places or self.log or any(self.counts.values()))

    @cached_property
    def places(self) -> dict[Path, Path]:
        """The files and folders that are theirs alone: path → path in the zip."""
        if not self.name or self.name.startswith(".") or "/" in self.name:  # no student's folder
            return {}
        records = [RecordFolder(folder.parent, folder.name) for folder in (self.root / RECORDS).glob("*/")]
        found = {
            path: Path(RECORDS, record.homework, path.name)
            for record in records
            if (path := record.file(self.name)).is_file()
        }
        course = CourseDirectory(config=course_config(self.root.resolve()))
        for step in (course.submitted_directory, course.autograded_directory, course.feedback_directory):
            top = Path(course.format_path(step, "any student", "any homework")).parents[1]
            for folder in (
                top,
                *top.glob(".*/"),
            ):  # in which `collect` keeps what does not count
                flat = [folder / f"{self.name}{ending}" for ending in (".ipynb", ".html")]
                there = [path for path in flat if os.path.isfile(path)]
                there += [folder / self.name] if os.path.lexists(folder / self.name) else []
                found |= {path: Path(step, path.relative_to(top)) for path in there}
        return found

    @cached_property
    def log(self) -> list[Decision]:
        """Their lines of the log."""
        return Decisions(self.root).all(student=self.name)

    @cached_property
    def counts(self) -> dict[tuple[str, str], int]:
        """(Database, table) → how many of its rows are theirs."""
        found = {}
        for one in self.databases:
            with in_a_sentence(), one.open() as connection:
                for table, theirs in rows_of(one, self.name).items():
                    count = sql.select(sql.func.count()).select_from(table).where(theirs)
                    found[one.name, table.name] = connection.execute(count).scalar_one()
        return found

    def hand_over(self, to: Path) -> None:
        """Write the zip; raises BackupError if the file exists, GradebookUnavailable."""
        with new_zip(to) as archive:
            archive.writestr("README.txt", README.format(name=self.name))
            for place, name in sorted(self.places.items()):
                for file in _files(place):
                    path = os.fsencode(name / file.relative_to(place)).decode("utf-8", "replace")
                    archive.write(file, path)
            archive.writestr("log.json", _as_json([vars(entry) for entry in self.log], archive))
            for one in self.databases:
                with in_a_sentence(), one.open() as connection:
                    rows = Readable(one, connection, rows_of(one, self.name)).tables()
                archive.writestr(Path(one.name).with_suffix(".json").name, _as_json(rows, archive))


def rows_of(database: Database, student: str) -> dict[sql.Table, sql.ColumnElement[bool]]:
    """Table → which rows are a student's: those with the name, and those that refer to one of these."""
    found: dict[sql.Table, sql.ColumnElement[bool]] = {}
    for table in database.tables:
        key = "id" if table is Student.__table__ else "student"
        names = [column for column in table.columns if column.name == key]
        refer = [
            key.parent.in_(sql.select(key.column).where(found[key.column.table]))
            for key in table.foreign_keys
            if key.column.table in found
        ]
        if named := [*(column == student for column in names), *refer]:
            found[table] = sql.or_(*named)
    return found


@dataclass(frozen=True)
class Readable:
    """Rows in which a reference to something of the course is replaced by what that is called."""

    database: Database
    connection: sql.Connection
    theirs: Mapping[sql.Table, sql.ColumnElement[bool]]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The student's rows of each table that has any."""
        found = {}
        for table, clause in self.theirs.items():
            rows = self.connection.execute(sql.select(table).where(clause)).mappings().all()
            found[table.name] = [self.row(table, row) for row in rows]
        return {name: rows for name, rows in found.items() if rows}

    def row(self, table: sql.Table, row: sql.RowMapping) -> dict[str, Any]:
        return {column.name: self.value(column, row[column.name]) for column in table.columns}

    def value(self, column: sql.Column, value: Any) -> Any:
        keys = [key.column for key in column.foreign_keys]
        target = next(iter(keys), self.database.refers.get(column.name))
        if target is None or target.table in self.theirs:
            return value
        query = sql.select(target.table).where(target == value)
        found = self.connection.execute(query).mappings().one_or_none()
        return value if found is None else self.row(target.table, found)


def _files(place: Path) -> Iterator[Path]:
    """The files at a place; a link, which could show a file of the machine, is none."""
    if place.is_symlink():
        return
    if place.is_file():
        yield place
    for folder, _, names in os.walk(place):
        paths = (Path(folder, name) for name in sorted(names))
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _as_json(value: Any, archive: zipfile.ZipFile) -> str:
    """Readable JSON; bytes become files of the zip."""

    def shown(value: Any) -> str:
        if not isinstance(value, bytes):
            return str(value)
        number = 1 + sum(name.startswith("attempts/") for name in archive.namelist())
        archive.writestr(name := f"attempts/{number}.ipynb", value)
        return name

    return json.dumps(value, indent=2, ensure_ascii=False, default=shown) + "\n"
