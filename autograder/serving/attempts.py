"""Students' attempts and the verdicts on them, in a database: an attempt is stored before the reply is sent.

An attempt is never changed or removed. One that comes too soon after others is also kept, but judged later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sql

from autograder.marks.database import GradebookUnavailable, in_a_sentence, with_driver
from autograder.submissions.collect import MEGABYTE

TABLES = sql.MetaData()
ATTEMPT = sql.Table(
    "handed_in",
    TABLES,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("homework", sql.String(200), nullable=False),
    sql.Column("student", sql.String(200), nullable=False),
    sql.Column("time", sql.DateTime, nullable=False),  # UTC, as are all times here
    sql.Column("not_before", sql.DateTime, nullable=False),  # the earliest time at which it may be judged
    sql.Column("digest", sql.String(64), nullable=False),
    sql.Column("content", sql.LargeBinary, nullable=False),
    sql.Column("is_placed", sql.Boolean, nullable=False, default=False),
    sql.Column("judged", sql.DateTime),
    sql.Index("handed_in_by", "homework", "student"),
)
# What waits is looked for several times a second, and must not be looked for among a term's files.
WAITS = sql.Index(
    "handed_in_waits",
    *(ATTEMPT.c[name] for name in ("judged", "number", "not_before", "homework", "student")),
    sqlite_where=ATTEMPT.c.judged.is_(None),
    postgresql_where=ATTEMPT.c.judged.is_(None),
)
TOLD = sql.Table(
    "told",
    TABLES,
    sql.Column("homework", sql.String(200), primary_key=True),
    sql.Column("student", sql.String(200), primary_key=True),
    sql.Column("visible", sql.Text, nullable=False),  # pages for the student, without hidden checks
    sql.Column("whole", sql.Text, nullable=False),  # with hidden checks
    sql.Column("mark", sql.String(100), nullable=False),
)
STANDING = sql.Table(
    "standing",
    TABLES,
    sql.Column("homework", sql.String(200), primary_key=True),
    sql.Column("student", sql.String(200), primary_key=True),
    sql.Column("source", sql.String(64), nullable=False, default=""),  # digest of the attempt that counts
    sql.Column("total", sql.Text, nullable=False, default=""),  # of the gradebook, in words
)
USED = sql.Table(
    "used_once",
    TABLES,
    sql.Column("key", sql.String(200), primary_key=True),  # of an invitation, or the nonce of a launch
    sql.Column("time", sql.DateTime, nullable=False),
)
KNOWN = sql.Table("known_student", TABLES, sql.Column("student", sql.String(200), primary_key=True))


@dataclass(frozen=True)
class Pace:
    """How often a student's attempts at one homework are judged; further ones wait for their turn.

    most, most_bytes: what is kept for one student and homework; beyond these bytes only small files are.
    """

    seconds_between: float = 30.0
    each_hour: int = 6
    most: int = 200
    most_bytes: int = 200 * MEGABYTE
    small_bytes: int = MEGABYTE


class TooMany(ValueError):
    """A student has handed in so much that this is not kept; the message says so."""


@dataclass(frozen=True)
class Attempt:
    """One attempt, without its content."""

    number: int
    homework: str
    student: str
    time: datetime
    not_before: datetime
    digest: str
    judged: datetime | None
    is_new: bool = True

    def is_late(self, due: datetime | None) -> bool:
        """Whether it was handed in after this time, which must have a zone."""
        return due is not None and self.time.replace(tzinfo=UTC) > due


@dataclass(frozen=True)
class Told:
    """A verdict: pages for the student without and with hidden checks, and the mark for the instructor."""

    visible: str
    whole: str
    mark: str


@dataclass(frozen=True)
class Standing:
    """The digest of the attempt that counts, and the mark in the gradebook; each empty until there is one."""

    source: str = ""
    total: str = ""


class Attempts:
    """The database at a URL; raises GradebookUnavailable if it cannot be used. Safe for threads."""

    def __init__(self, url: str) -> None:
        with in_a_sentence():
            self.engine = sql.create_engine(with_driver(url), pool_pre_ping=True)
            if self.engine.dialect.name == "sqlite":
                sql.event.listen(self.engine, "connect", _as_two_processes_need_it)
                sql.event.listen(self.engine, "begin", _write_lock)
            TABLES.create_all(self.engine)
            with self.engine.begin() as connection:  # a database of an earlier version lacks it
                connection.execute(sql.schema.CreateIndex(WAITS, if_not_exists=True))

    @contextmanager
    def _begin(self) -> Iterator[sql.Connection]:
        with in_a_sentence(), self.engine.begin() as connection:
            yield connection

    def hand_in(self, student: str, homework: str, content: bytes, pace: Pace) -> Attempt:
        """Store an attempt; when this returns it is on disk. The same file as last time is not stored again.

        Raises TooMany.
        """
        now, digest = _now(), hashlib.sha256(content).hexdigest()
        with self._begin() as connection:
            if self.engine.dialect.name == "postgresql":  # one writer at a time, as always in SQLite
                connection.execute(sql.text("LOCK TABLE handed_in IN EXCLUSIVE MODE"))
            before = _rows(connection, _of(student, homework))
            if before and before[-1].digest == digest:
                return _attempt(before[-1], is_new=False)
            if len(before) >= pace.most:
                raise TooMany(f"There are {len(before)} attempts already, and no more are kept.")
            if len(content) > pace.small_bytes:
                size = sql.select(sql.func.sum(sql.func.length(ATTEMPT.c.content)))
                kept = connection.execute(size.where(_of(student, homework))).scalar() or 0
                if kept + len(content) > pace.most_bytes:
                    raise TooMany(too_large(pace))
            turn = _turn(now, [one.not_before for one in before], pace)
            row = ATTEMPT.insert().values(
                homework=homework,
                student=student,
                time=now,
                not_before=turn,
                digest=digest,
                content=content,
                is_placed=False,
            )
            [number] = connection.execute(row).inserted_primary_key or [0]
            return Attempt(number, homework, student, now, turn, digest, None)

    def of(self, student: str, homework: str) -> list[Attempt]:
        """A student's attempts, oldest first."""
        with self._begin() as connection:
            return [_attempt(row) for row in _rows(connection, _of(student, homework))]

    def latest(self, homework: str) -> dict[str, tuple[Attempt, int]]:
        """Each student's latest attempt, and how many there are."""
        found: dict[str, tuple[Attempt, int]] = {}
        with self._begin() as connection:
            for row in _rows(connection, ATTEMPT.c.homework == homework):
                found[row.student] = (_attempt(row), found.get(row.student, (None, 0))[1] + 1)
        return found

    def content(self, number: int) -> bytes:
        """The file of an attempt."""
        with self._begin() as connection:
            return connection.execute(
                sql.select(ATTEMPT.c.content).where(ATTEMPT.c.number == number)
            ).scalar_one()

    def queue(self, before: int) -> int:
        """How many submissions will be judged before this attempt."""
        waits = (ATTEMPT.c.judged.is_(None), ATTEMPT.c.not_before <= _now(), ATTEMPT.c.number < before)
        students = sql.select(ATTEMPT.c.homework, ATTEMPT.c.student).where(*waits).distinct().subquery()
        with self._begin() as connection:
            return connection.execute(sql.select(sql.func.count()).select_from(students)).scalar_one()

    def unjudged(self) -> set[int]:
        """The numbers of all attempts that have not been judged."""
        with self._begin() as connection:
            rows = connection.execute(sql.select(ATTEMPT.c.number).where(ATTEMPT.c.judged.is_(None)))
            return set(rows.scalars())

    def unplaced(self, homework: str) -> list[Attempt]:
        """Attempts that have not been filed as submissions yet, oldest first."""
        with self._begin() as connection:
            clause = sql.and_(ATTEMPT.c.homework == homework, ATTEMPT.c.is_placed.is_(False))
            return [_attempt(row) for row in _rows(connection, clause)]

    def placed(self, number: int) -> None:
        """Record that an attempt has been filed as a submission."""
        with self._begin() as connection:
            connection.execute(ATTEMPT.update().where(ATTEMPT.c.number == number).values(is_placed=True))

    def ready(self, homework: str) -> dict[str, int]:
        """Student → the number of the latest attempt that is filed, not judged, and may be judged now."""
        clause = sql.and_(
            ATTEMPT.c.homework == homework,
            ATTEMPT.c.is_placed.is_(True),
            ATTEMPT.c.judged.is_(None),
            ATTEMPT.c.not_before <= _now(),
        )
        with self._begin() as connection:
            return {row.student: row.number for row in _rows(connection, clause)}

    def tell(self, homework: str, student: str, told: Told, up_to: int | None, source: str = "") -> None:
        """Store a student's verdict; a total stays only if the mark and the attempt that counts are the same.

        up_to: the number of the latest attempt that it takes into account, if any. source: the digest of the
        attempt that it is about.
        """
        key = {"homework": homework, "student": student}
        judged = (*(ATTEMPT.c[name] == value for name, value in key.items()), ATTEMPT.c.judged.is_(None))
        with self._begin() as connection:
            marked = sql.select(TOLD.c.mark).where(*_is(TOLD, **key))
            is_same = connection.execute(marked).scalar() == told.mark
            before = _standing(connection.execute(sql.select(STANDING).where(*_is(STANDING, **key))).first())
            total = before.total if is_same and before.source == source else ""
            for table in (TOLD, STANDING):
                connection.execute(table.delete().where(*_is(table, **key)))
            connection.execute(TOLD.insert().values(**key, **vars(told)))
            connection.execute(STANDING.insert().values(**key, source=source, total=total))
            if up_to is not None:
                clause = sql.and_(*judged, ATTEMPT.c.number <= up_to)
                connection.execute(ATTEMPT.update().where(clause).values(judged=_now()))

    def told(self, homework: str, student: str) -> Told | None:
        """The verdict that a student sees now; None before the first one."""
        columns = sql.select(TOLD.c.visible, TOLD.c.whole, TOLD.c.mark)
        with self._begin() as connection:
            row = connection.execute(columns.where(*_is(TOLD, homework, student))).one_or_none()
        return Told(*row) if row else None

    def standing(self, homework: str, student: str) -> Standing:
        """How one student stands."""
        with self._begin() as connection:
            rows = connection.execute(sql.select(STANDING).where(*_is(STANDING, homework, student)))
            return _standing(rows.first())

    def standings(self, homework: str) -> dict[str, Standing]:
        """How everybody stands whom the gradebook knows, or who has a verdict."""
        with self._begin() as connection:
            rows = connection.execute(sql.select(STANDING).where(STANDING.c.homework == homework)).all()
        return {row.student: _standing(row) for row in rows}

    def enter_totals(self, homework: str, totals: Mapping[str, str]) -> None:
        """Store everybody's mark in the gradebook, in words; who is not in it any more is forgotten."""
        before = self.standings(homework)
        gone = {student for student, one in before.items() if student not in totals and not one.source}
        wanted = {student: totals.get(student, "") for student in {*before, *totals} - gone}
        changed = {who for who in wanted if who not in before or before[who].total != wanted[who]}
        if not (gone or changed):
            return
        with self._begin() as connection:
            for student in sorted(gone | changed):
                clause = _is(STANDING, homework, student)
                if student in gone:
                    connection.execute(STANDING.delete().where(*clause))
                elif student in before:
                    connection.execute(STANDING.update().where(*clause).values(total=wanted[student]))
                else:
                    row = {"homework": homework, "student": student, "total": wanted[student]}
                    connection.execute(STANDING.insert().values(**row))

    def marks(self, homework: str) -> dict[str, str]:
        """Each student's mark in words."""
        with self._begin() as connection:
            rows = connection.execute(
                sql.select(TOLD.c.student, TOLD.c.mark).where(TOLD.c.homework == homework)
            )
            return {row.student: row.mark for row in rows}

    def know(self, students: Collection[str]) -> None:
        """Remember students, who have been invited or have signed in."""
        with self._begin() as connection:
            there = set(connection.execute(sql.select(KNOWN.c.student)).scalars())
            for student in set(students) - there:
                connection.execute(KNOWN.insert().values(student=student))

    def known(self, homeworks: Collection[str]) -> set[str]:
        """Those students, whoever has handed in one of these homeworks, and whom the gradebook knows."""
        queries = [
            sql.select(table.c.student).where(table.c.homework.in_(homeworks)).distinct()
            for table in (ATTEMPT, STANDING)
        ]
        with self._begin() as connection:
            return {
                student
                for query in (sql.select(KNOWN.c.student), *queries)
                for student in connection.execute(query).scalars()
            }

    def use(self, key: str) -> bool:
        """Use up something that may be used once; False if it was used before."""
        try:
            with self.engine.begin() as connection:
                connection.execute(USED.insert().values(key=key, time=_now()))
        except sql.exc.IntegrityError:
            return False
        except sql.exc.SQLAlchemyError as error:
            raise GradebookUnavailable(f"The database cannot be used ({type(error).__name__}).") from None
        return True


def too_large(pace: Pace) -> str:
    """What a student is told whose attempts take too much room together."""
    most, small = pace.most_bytes / MEGABYTE, pace.small_bytes / MEGABYTE
    return (
        f"With this one, your attempts would take more than {most:g} MB. Clear the outputs of the notebook "
        f"and hand it in again: up to {small:g} MB, it is still kept."
    )


def _turn(now: datetime, turns: Sequence[datetime], pace: Pace) -> datetime:
    """When a further attempt may be judged, given the times for earlier ones, oldest first."""
    earliest = now
    if turns:
        earliest = max(earliest, turns[-1] + timedelta(seconds=pace.seconds_between))
    if len(turns) >= pace.each_hour:
        earliest = max(earliest, turns[-pace.each_hour] + timedelta(hours=1))
    return earliest


def _is(table: sql.Table, homework: str, student: str) -> tuple[sql.ColumnElement[bool], ...]:
    return table.c.homework == homework, table.c.student == student


def _standing(row: Any | None) -> Standing:
    return Standing(row.source, row.total) if row else Standing()


def counts(attempts: Sequence[Attempt], source: str) -> int | None:
    """The number of the attempt with this digest, the later of two; None if there is none."""
    return next((one.number for one in reversed(attempts) if one.digest == source), None)


def _of(student: str, homework: str) -> sql.ColumnElement[bool]:
    return sql.and_(ATTEMPT.c.student == student, ATTEMPT.c.homework == homework)


def _rows(connection: sql.Connection, clause: sql.ColumnElement[bool]) -> Sequence[Any]:
    """All columns but the content, oldest first."""
    columns = [column for column in ATTEMPT.c if column.name not in ("content", "is_placed")]
    return connection.execute(sql.select(*columns).where(clause).order_by(ATTEMPT.c.number)).all()


def _attempt(row: Any, *, is_new: bool = True) -> Attempt:
    return Attempt(**row._mapping, is_new=is_new)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def _as_two_processes_need_it(connection: Any, record: object) -> None:
    """SQLite: readers do not wait for the writer, writers wait for each other, a commit is on disk."""
    connection.isolation_level = None  # SQLAlchemy begins transactions
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000"):
        connection.execute(f"pragma {pragma}")


def _write_lock(connection: sql.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
