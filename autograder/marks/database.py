"""The database of the gradebook: a file beside the course, or a server with a URL."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from nbgrader.api import Base, Gradebook, InvalidEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import Connection, MetaData, create_engine, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from autograder.extras import needs

POSTGRESQL = ("postgresql", "postgres")

# Part of a message from a server or its driver → our message. Theirs contain the address, the user, and
# sometimes a part of the password.
SENTENCES = {
    "password authentication failed": "password authentication failed",
    "no password supplied": "the server asks for a password and the address has none",
    "no pg_hba.conf entry": "the server does not admit this user from this machine",
    "translate host name": "there is no server of this name",
    "resolve host": "there is no server of this name",
    "name or service not known": "there is no server of this name",
    "connection refused": "the server refuses the connection or is not running",
    "timeout expired": "the server does not answer",
    "timed out": "the server does not answer",
    "invalid connection option": "the address contains an unknown option",
    "invalid uri query parameter": "the address contains an unknown option",
    "could not parse network address": "the address is not that of a server",
    "invalid port number": "the port is not a valid port number",
    "invalid integer value": "an option of the address should be a number",
    "certificate": "the server's certificate is not accepted",
    "ssl": "the connection cannot be encrypted as the address asks",
    "too many clients": "the server has too many connections",
    "starting up": "the server is starting",
    "shutting down": "the server is shutting down",
    "terminating connection": "the server has closed the connection",
    "closed the connection": "the server has closed the connection",
    "connection is closed": "the server has closed the connection",
    "connection is lost": "the server has closed the connection",
    "permission denied": "the user lacks the permission",
    "no space left": "the server's disk is full",
    "does not exist": "the server has no such database, user or table",
}


class GradebookUnavailable(RuntimeError):
    """The gradebook cannot be opened or written; finished verdicts are recorded, and entered next time."""


class OldGradebook(GradebookUnavailable):
    """The gradebook lacks columns that the installed nbgrader uses; the message says how to add them."""

    def __init__(self, lacking: str) -> None:
        super().__init__(
            f"The gradebook was made by an earlier nbgrader: it has no {lacking}. Nothing was changed. Copy "
            "the database, run `nbgrader db upgrade` in the course's folder, and then this command again."
        )


def opened(course: CourseDirectory) -> Gradebook:
    """The gradebook of a course; raises GradebookUnavailable, OldGradebook."""
    try:
        with in_a_sentence():
            engine = create_engine(course.db_url)
            try:
                with engine.connect() as connection:
                    if missing := lacking(connection, Base.metadata):
                        raise OldGradebook(missing)
            finally:
                engine.dispose()
            return Gradebook(course.db_url, course.course_id)
    except (ImportError, ValueError, TypeError) as error:  # raised for an address that no driver understands
        raise _unavailable(error) from None


def with_driver(url: str) -> str:
    """The same URL; if it names PostgreSQL without a driver, with the driver that this project installs.

    "postgresql://marks@db/course" → "postgresql+psycopg://marks@db/course?client_encoding=utf8"
    Raises GradebookUnavailable for an invalid URL, NotInstalled if the driver is missing.
    """
    try:
        parsed = make_url(url)
    except (SQLAlchemyError, ValueError):
        raise GradebookUnavailable(
            "The gradebook cannot be used (its address is not a URL such as postgresql://USER:PASSWORD@HOST:5432/"
            "NAME; in a password, write %40 for @, %3A for : and %2F for /)."
        ) from None
    if parsed.drivername not in POSTGRESQL:
        return url
    with needs("psycopg", "postgresql"):
        import psycopg  # noqa: F401  SQLAlchemy would say only that a module is missing
    # without an encoding, psycopg returns bytes for text from a database made in the locale C
    whole = parsed.set(drivername="postgresql+psycopg").update_query_dict({"client_encoding": "utf8"})
    return whole.render_as_string(hide_password=False)


def lacking(connection: Connection, tables: MetaData) -> str:
    """The columns that these tables have and those of the database lack, as "student.lms_user_id, …".

    A table that is missing as a whole does not count, since whoever opens the database creates it.
    """
    there = inspect(connection).get_multi_columns(filter_names=[*tables.tables])
    found = {(name, column["name"]) for (_, name), columns in there.items() for column in columns}
    known = {name for name, _ in found}
    needed = [(table.name, column.name) for table in tables.sorted_tables for column in table.columns]
    missing = sorted(pair for pair in needed if pair[0] in known and pair not in found)
    return ", ".join(f"{table}.{name}" for table, name in missing)


@contextlib.contextmanager
def one_transaction(gradebook: Gradebook) -> Iterator[None]:
    """Everything inside becomes visible together or not at all.

    nbgrader's own methods commit every change at once, so none of them may be called inside.
    """
    session = gradebook.db
    try:
        with session.no_autoflush:
            yield
        session.commit()
    except BaseException:
        session.rollback()
        raise


@contextlib.contextmanager
def in_a_sentence() -> Iterator[None]:
    """Raise errors of the database as GradebookUnavailable, without its address in any message."""
    try:
        yield
    except (SQLAlchemyError, InvalidEntry) as error:
        raise _unavailable(error) from None


def _unavailable(error: Exception) -> GradebookUnavailable:
    whole = f"The gradebook cannot be used ({_reason(error)})."
    return GradebookUnavailable(f"{whole} What is finished is kept; run the same command again.")


def _reason(error: Exception) -> str:
    """What went wrong, in our own words; a server's message is shown only if it is a known one."""
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, sqlite3.Error):
        return str(cause)  # such as "database is locked"; it holds no path
    if isinstance(cause, NoSuchModuleError | ImportError):
        return "no driver is installed for the kind of database that its address names"
    said = str(cause).lower()
    known = next((sentence for piece, sentence in SENTENCES.items() if piece in said), None)
    code = getattr(cause, "sqlstate", None)
    return known or (f"the server reports error {code}" if code else f"{type(cause).__name__}")
