"""Delete everything that a course keeps of a student, or of everybody in a finished term."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import sqlalchemy as sql
from markupsafe import escape

from autograder.marks.backup import RECORDS, Database
from autograder.marks.database import in_a_sentence
from autograder.marks.decisions import Decisions
from autograder.marks.one_student import OneStudent, rows_of
from autograder.marks.records import HomeworkRecord, read_homework, write

WITH_CLASS = ("submitted", "autograded", "feedback", "exchange", RECORDS)  # folders with students' names
COMPACT = {
    "sqlite": ("VACUUM",),
    "postgresql": ("SET lock_timeout = '10s'", "VACUUM FULL {tables}"),
}


@dataclass(frozen=True)
class Forgetting:
    """What goes when a student is forgotten."""

    student: OneStudent

    @cached_property
    def summaries(self) -> dict[Path, HomeworkRecord]:
        """Path of a class's record with the student → the record without; raises RecordError."""
        found = {}
        for path in sorted((self.student.root / RECORDS).glob("*.json")):
            record = read_homework(path)
            rest = tuple(one for one in record.submissions if one.student != self.student.name)
            if rest != record.submissions:
                found[path] = replace(record, submissions=rest)
        return found

    @cached_property
    def reports(self) -> list[Path]:
        """Class reports in which the student is named."""
        name = str(escape(self.student.name))
        paths = sorted((self.student.root / RECORDS).glob("*.html"))
        return [path for path in paths if name in path.read_text("utf-8", "replace")]

    def lines(self) -> Iterator[str]:
        """What goes, for a person to read; nothing if nothing is kept."""
        if not (self.student.is_known or self.summaries):
            return
        yield from (str(path) for path in sorted(self.student.places.values()))
        yield from (f"{RECORDS}/{path.name}: the student's part" for path in self.summaries)
        for path in self.reports:
            yield f"{RECORDS}/{path.name}; `autograder report {path.stem}` writes it again"
        for (database, table), count in self.student.counts.items():
            if count:
                yield f"{database}, {table}: {count} {'row' if count == 1 else 'rows'}"
        if count := len(self.student.log):
            yield f"the log: the name and the reasons in {count} {'line' if count == 1 else 'lines'}"

    def delete(self) -> None:
        """Delete it all but the log's part."""
        for path, record in self.summaries.items():
            write(path, record)
        for path in self.reports:
            path.unlink()
        for place in self.student.places:
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink()
        for one in self.student.databases:
            _delete(one, self.student.name)


def forget(students: Sequence[OneStudent]) -> None:
    """Delete all of these, the log's part last: after a crash, the same command deletes the rest."""
    for student in students:
        Forgetting(student).delete()
    for one in students[0].databases if students else ():
        _compact(one)
    for student in students:
        Decisions(student.root).forget(student.name)


def _delete(database: Database, student: str) -> None:
    """Delete a student's rows."""
    theirs = rows_of(database, student)
    with in_a_sentence(), database.open() as connection:
        for table in reversed(database.tables):
            if table in theirs:
                connection.execute(table.delete().where(theirs[table]))


def _compact(database: Database) -> None:
    """Delete what the database's file still has of deleted rows."""
    with in_a_sentence():
        with database.open() as connection:
            engine = connection.engine
        tables = ", ".join(map(engine.dialect.identifier_preparer.format_table, rows_of(database, "")))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for command in COMPACT.get(engine.dialect.name, ()):
                connection.execute(sql.text(command.format(tables=tables)))
        engine.dispose()


def mentions(root: Path, students: Iterable[str]) -> list[str]:
    """Files of the class that contain one of the names as a word, such as other students' notebooks."""
    spelt = {
        way
        for name in students
        for way in (os.fsencode(name), json.dumps(name)[1:-1].encode(), str(escape(name)).encode())
    }
    word = re.compile(rb"(?<![\w-])(" + b"|".join(map(re.escape, spelt)) + rb")(?![\w-])")
    inside = (path for folder in WITH_CLASS for path in (root / folder).rglob("*"))
    files = (path for path in (*root.glob("*"), *inside) if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(root)) for path in files if word.search(path.read_bytes()))
