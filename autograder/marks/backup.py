"""Back up the gradebook and the records to one zip, and restore it to SQLite or PostgreSQL.

Every row is copied unchanged, so manual marks, comments, due dates and extensions are included.
"""

from __future__ import annotations

import io
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from nbgrader.api import Base, Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from autograder.marks.database import in_a_sentence, opened
from autograder.marks.records import write_bytes
from autograder.marks.settings import course_config

DATABASE, RECORDS = "gradebook.db", "grades"
ROWS_AT_ONCE = 1_000


class BackupError(ValueError):
    """A backup that cannot be made or restored; the message says why, and nothing was changed."""


def backup(root: Path, to: Path, gradebook: str | None = None) -> dict[str, int]:
    """Write the zip; returns how many rows each table has. Raises BackupError, GradebookUnavailable."""
    if to.exists():
        raise BackupError(f"{to} exists already; give another name.")
    out = io.BytesIO()
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        path = Path(scratch, DATABASE)
        with in_a_sentence(), _gradebook(root, gradebook) as book, Gradebook(f"sqlite:///{path}") as copy:
            counts = _copy(book.db, copy.db)
        archive.write(path, DATABASE)
        for file in sorted((root / RECORDS).rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(root).as_posix())
    write_bytes(to, out.getvalue())
    to.chmod(0o600)
    return counts


def restore(root: Path, source: Path, gradebook: str | None = None) -> dict[str, int]:
    """Restore a backup to a gradebook without students, and its records where there are none.

    Returns how many rows of each table there are now. Raises BackupError, GradebookUnavailable.
    """
    try:
        archive = zipfile.ZipFile(source)
        database = archive.read(DATABASE)
    except (zipfile.BadZipFile, KeyError) as error:
        raise BackupError(f"{source} is not a backup made by this program ({error}).") from None
    with archive, tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, DATABASE)
        path.write_bytes(database)
        _require_sound(path, source)
        records = dict(_records(archive, root))
        with in_a_sentence(), _gradebook(root, gradebook) as book, Gradebook(f"sqlite:///{path}") as copy:
            if students := len(book.students):
                raise BackupError(f"The gradebook holds {students} students; restore into one without any.")
            _clear(book.db)
            counts = _copy(copy.db, book.db)
        for file, content in records.items():
            write_bytes(file, content)
        return counts


def _gradebook(root: Path, url: str | None) -> Gradebook:
    return opened(CourseDirectory(config=course_config(root.resolve(), url)))


def _copy(source: Session, destination: Session) -> dict[str, int]:
    """Copy every row of every table, each after the rows to which it refers."""
    _clear(destination)
    for table in Base.metadata.sorted_tables:
        rows = source.execute(select(table)).mappings()
        while some := rows.fetchmany(ROWS_AT_ONCE):
            destination.execute(insert(table), [dict(row) for row in some])
    destination.commit()
    return {
        table.name: destination.scalar(select(func.count()).select_from(table)) or 0
        for table in Base.metadata.sorted_tables
    }


def _clear(session: Session) -> None:
    """Remove what nbgrader enters in a new database, such as the course; committing is left to the caller."""
    for table in reversed(Base.metadata.sorted_tables):
        session.execute(table.delete())


def _require_sound(path: Path, source: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as database:
            [(said,)] = database.execute("PRAGMA integrity_check").fetchall()[:1]
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise BackupError(f"The gradebook in {source} is damaged ({said}).")


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
