"""Everybody of whom a course keeps something, and when each handed in last, to tell a finished term."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sql
from nbgrader.api import Student, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory

from autograder.marks.backup import RECORDS, Database
from autograder.marks.database import in_a_sentence
from autograder.marks.decisions import Decisions
from autograder.marks.one_student import OneStudent, rows_of
from autograder.marks.records import RecordFolder
from autograder.marks.settings import course_config

DATED = {SubmittedAssignment.__tablename__: "timestamp", "handed_in": "time"}  # table → when it was handed in


def everybody(root: Path, databases: Sequence[Database]) -> list[OneStudent]:
    """Every student of whom something is kept, by name."""
    log = Decisions(root).all()
    names = {*_in_databases(databases), *_in_folders(root), *(entry.student for entry in log)}
    names -= {entry.student for entry in log if entry.what == "forgotten"}  # pseudonyms
    return [OneStudent(name, root, databases) for name in sorted(names - {""})]


def _in_databases(databases: Sequence[Database]) -> Iterator[str]:
    for one in databases:
        with in_a_sentence(), one.open() as connection:
            for table in one.tables:
                key = "id" if table is Student.__table__ else "student"
                if key in table.columns:
                    yield from connection.execute(sql.select(table.columns[key]).distinct()).scalars()


def _in_folders(root: Path) -> Iterator[str]:
    course = CourseDirectory(config=course_config(root.resolve()))
    for step in (course.submitted_directory, course.autograded_directory, course.feedback_directory):
        top = Path(course.format_path(step, "any student", "any homework")).parents[1]
        yield from (path.name for path in top.glob("*/") if not path.name.startswith("."))
        yield from (path.stem for path in top.glob("*.ipynb"))
    for folder in (root / RECORDS).glob("*/"):
        yield from (record.student for record in RecordFolder(folder.parent, folder.name).all())


def last_handed_in(student: OneStudent) -> datetime | None:
    """The latest time at which something was handed in, or a file in `submitted/` was changed."""
    times = [*_times_in_databases(student)]
    for place, name in student.places.items():
        if name.parts[0] == "submitted":
            inside = [Path(folder, file) for folder, _, files in os.walk(place) for file in files]
            times += [path.lstat().st_mtime for path in (place, *inside) if not path.is_dir()]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def _times_in_databases(student: OneStudent) -> Iterator[float]:
    """Seconds since 1970."""
    for one in student.databases:
        with in_a_sentence(), one.open() as connection:
            for table, theirs in rows_of(one, student.name).items():
                if table.name in DATED:
                    column = table.columns[DATED[table.name]]
                    rows = connection.execute(sql.select(column).where(theirs, column.isnot(None)))
                    yield from (time.replace(tzinfo=UTC).timestamp() for time in rows.scalars())
