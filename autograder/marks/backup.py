"""Back up the gradebook, the database of `serve` and the records to one zip; restore to SQLite or PostgreSQL.

Every row is copied unchanged, so manual marks, comments, due dates, extensions and attempts are included.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import sqlalchemy as sql
from nbgrader.api import Base, Gradebook, Student
from nbgrader.coursedir import CourseDirectory

from autograder.marks.at_work import FILE as LOCK
from autograder.marks.database import in_a_sentence, opened, with_driver
from autograder.marks.records import write_bytes
from autograder.marks.settings import course_config

RECORDS = "grades"
ROWS_AT_ONCE = 100  # of an attempt's rows each holds a notebook
Connected = AbstractContextManager[sql.Connection]


class BackupError(ValueError):
    """A backup that cannot be made or restored; the message says why, and nothing was changed."""


@dataclass(frozen=True)
class Database:
    """A database that a backup holds.

    name: the name of its copy in the zip, a SQLite file. tables: each comes after those that it refers to.
    kept: the table that must be empty before a restore, and what its rows are.
    open: begins a transaction in the database. open_copy: begins one in the copy at a path.
    refers: a column's name → the column to which it refers, where the tables do not say so.
    """

    name: str
    tables: Sequence[sql.Table]
    kept: tuple[sql.Table, str]
    open: Callable[[], Connected]
    open_copy: Callable[[Path], Connected]
    refers: Mapping[str, sql.Column] = field(default_factory=dict)


def database(name: str, url: str, tables: Sequence[sql.Table], kept: tuple[sql.Table, str]) -> Database:
    """The database at this URL with these tables; missing tables are created."""

    @contextmanager
    def connected(url: str) -> Iterator[sql.Connection]:
        engine = sql.create_engine(with_driver(url))
        try:
            with engine.begin() as connection:
                for table in tables:
                    table.create(connection, checkfirst=True)
                yield connection
        finally:
            engine.dispose()

    return Database(name, tables, kept, partial(connected, url), lambda path: connected(f"sqlite:///{path}"))


def gradebook_of(root: Path, url: str | None) -> Database:
    """nbgrader's gradebook, at this URL or the one of nbgrader_config.py."""

    @contextmanager
    def connected(gradebook: Gradebook) -> Iterator[sql.Connection]:
        with gradebook:
            yield gradebook.db.connection()
            gradebook.db.commit()

    course = CourseDirectory(config=course_config(root.resolve(), url))
    return Database(
        "gradebook.db",
        Base.metadata.sorted_tables,
        (Student.__table__, "students"),
        lambda: connected(opened(course)),
        lambda path: connected(Gradebook(f"sqlite:///{path}")),
    )


def backup(root: Path, to: Path, databases: Sequence[Database]) -> dict[str, int]:
    """Write the zip; returns how many rows each table has. Raises BackupError, GradebookUnavailable."""
    counts: dict[str, int] = {}
    with new_zip(to) as archive, tempfile.TemporaryDirectory(dir=to.resolve().parent) as scratch:
        for one in databases:
            path = Path(scratch, one.name)
            with in_a_sentence(), one.open() as source, one.open_copy(path) as copy:
                counts |= _copy(one, source, copy)
            archive.write(path, one.name)
        for file in sorted((root / RECORDS).rglob("*")):
            if file.is_file() and file.name != LOCK:
                archive.write(file, file.relative_to(root).as_posix())
    return counts


@contextmanager
def new_zip(to: Path) -> Iterator[zipfile.ZipFile]:
    """A new file that only its owner can read, and that appears when it is whole; raises BackupError."""
    if to.exists():
        raise BackupError(f"{to} exists already; give another name.")
    with tempfile.TemporaryDirectory(dir=to.resolve().parent) as scratch:  # which others cannot read
        whole = Path(scratch, "whole.zip")
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            yield archive
        whole.chmod(0o600)
        os.replace(whole, to)


def restore(root: Path, source: Path, databases: Sequence[Database]) -> dict[str, int]:
    """Restore a backup to databases that contain nothing of value, and its records where there are none.

    A database that the backup lacks stays as it is. Returns how many rows of each table there are now.
    Raises BackupError, GradebookUnavailable.
    """
    counts: dict[str, int] = {}
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(source))
            archive.getinfo(databases[0].name)
        except (zipfile.BadZipFile, KeyError) as error:
            raise BackupError(f"{source} is not a backup made by this program ({error}).") from None
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        records = dict(_records(archive, root))
        stack.enter_context(in_a_sentence())
        for one in [one for one in databases if one.name in archive.namelist()]:
            path = Path(archive.extract(one.name, scratch))
            _require_sound(path, source)
            destination = stack.enter_context(one.open())
            table, what = one.kept
            if there := _rows(destination, table):
                raise BackupError(
                    f"{one.name} already contains {what} ({there}); restore into a database without any."
                )
            counts |= _copy(one, stack.enter_context(one.open_copy(path)), destination)
        for file, content in records.items():
            write_bytes(file, content)
    return counts


def _copy(database: Database, source: sql.Connection, destination: sql.Connection) -> dict[str, int]:
    """Copy every row of every table, in place of the rows that nbgrader enters in a new database."""
    for table in reversed(database.tables):
        destination.execute(table.delete())
    for table in database.tables:
        rows = source.execution_options(yield_per=ROWS_AT_ONCE).execute(sql.select(table)).mappings()
        for some in rows.partitions():
            destination.execute(table.insert(), [dict(row) for row in some])
        _count_on(destination, table)
    return {table.name: _rows(destination, table) for table in database.tables}


def _count_on(destination: sql.Connection, table: sql.Table) -> None:
    """Have PostgreSQL number further rows after the copied ones, as SQLite does by itself."""
    column = table.autoincrement_column
    if column is None or destination.dialect.name != "postgresql":
        return
    sequence = sql.func.pg_get_serial_sequence(table.name, column.name)
    last = sql.select(sql.func.max(column)).scalar_subquery()
    destination.execute(sql.select(sql.func.setval(sequence, sql.func.coalesce(last, 1), last.isnot(None))))


def _rows(connection: sql.Connection, table: sql.Table) -> int:
    return connection.execute(sql.select(sql.func.count()).select_from(table)).scalar_one()


def _require_sound(path: Path, source: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as database:
            [(said,)] = database.execute("PRAGMA integrity_check").fetchall()[:1]
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise BackupError(f"{path.name} in {source} is damaged ({said}). Use another backup.")


def _records(archive: zipfile.ZipFile, root: Path) -> Iterator[tuple[Path, bytes]]:
    """The path and the bytes of each record; raises BackupError if a different one is there."""
    for name in archive.namelist():
        path = Path(name)
        if path.parts[0] != RECORDS or path.is_absolute() or ".." in path.parts:
            continue
        there, content = root / path, archive.read(name)
        if there.exists() and there.read_bytes() != content:
            raise BackupError(f"{there} exists already and differs; move {root / RECORDS} away.")
        yield there, content
