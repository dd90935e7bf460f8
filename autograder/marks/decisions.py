"""Who decided what, and when: an append-only log in `grades/decisions.jsonl`.

Only `forget` changes lines: it takes a student's name out. The last entries about excuses and extensions
apply. Manual marks and due dates are entered in nbgrader's pages, which do not record by whom; of these the
log says when they were noticed, and by which account's command.
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from autograder.marks.records import write_bytes
from autograder.markup import one_line

FILE = "decisions.jsonl"
What = Literal[
    "excused",
    "extension in hours",
    "mark by hand",
    "extra credit",
    "points",
    "due",
    "grace in minutes",
    "attempt",
    "late without a time",
    "forgotten",
]

Given = tuple[What, str, str]  # a mark by hand or extra credit; the student; the cell


class DecisionError(ValueError):
    """A log that cannot be read; the message names the line."""


@dataclass(frozen=True)
class Decision:
    """One line: `value` holds from now on, `before` held until then; None means that there was none.

    student: empty if it is about all of them.
    """

    homework: str
    student: str
    what: What
    value: float | bool | str | None
    before: float | bool | str | None = None
    cell: str = ""  # of a manual mark; the exercise, for points
    why: str = ""
    who: str = ""
    is_noticed: bool = False  # somebody else may have decided it, and earlier
    time: str = ""  # UTC, ISO 8601


@dataclass(frozen=True)
class Decisions:
    """The log of the course in this folder."""

    root: Path

    @property
    def path(self) -> Path:
        return self.root / "grades" / FILE

    def add(self, *decisions: Decision) -> None:
        """Append these decisions, with the name of this account and the time."""
        self._append("".join(map(_stamped, decisions)))

    def take_over(self, decisions: Iterable[Decision]) -> None:
        """Append decisions of another log as they are."""
        self._append("".join(map(_line, decisions)))

    def _append(self, lines: str) -> None:
        if not lines:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with open(handle, "ab") as file:
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())

    def all(self, homework: str | None = None, student: str | None = None) -> list[Decision]:
        """Every decision, oldest first; raises DecisionError."""
        found = []
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.is_file() else []
        for number, line in enumerate(lines, 1):
            try:
                found.append(Decision(**json.loads(line)))
            except (ValueError, TypeError) as error:
                raise DecisionError(
                    f"{self.path}, line {number}, is not a decision ({error}). Restore the file "
                    "from a backup, or remove this line."
                ) from None
        return [
            entry
            for entry in found
            if homework in (None, entry.homework) and student in (None, entry.student)
        ]

    def forget(self, student: str) -> None:
        """Replace a student's name by a pseudonym, drop the reasons, and log that someone was forgotten."""
        log = self.all()
        alias = f"forgotten {1 + sum(entry.what == 'forgotten' for entry in log)}"
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True) if log else []
        for number, entry in enumerate(log):
            if entry.student == student:
                lines[number] = _line(replace(entry, student=alias, why=""))
        lines.append(_stamped(Decision("", alias, "forgotten", True)))
        write_bytes(self.path, "".join(lines).encode(), mode=0o600)

    def excused(self, homework: str) -> frozenset[str]:
        """The students who need not hand in this homework."""
        return frozenset(student for student, value in self._last(homework, "excused").items() if value)

    def extensions(self, homework: str) -> dict[str, timedelta]:
        """Student → the length of the extension."""
        hours = self._last(homework, "extension in hours")
        return {student: timedelta(hours=float(value or 0)) for student, value in hours.items()}

    def due(self, homework: str, student: str) -> datetime | None:
        """When the homework is due for a student, extension included; None if no due date was set."""
        due = self._due(homework)
        return due + self.extensions(homework).get(student, timedelta()) if due else None

    def in_time_until(self, homework: str, student: str) -> datetime | None:
        """Up to when an attempt of a student is not late: the due date, extension and grace included."""
        due = self.due(homework, student)
        return due + self.grace(homework) if due else None

    def grace(self, homework: str) -> timedelta:
        """How long after the due date is still in time."""
        return timedelta(minutes=float(self._last(homework, "grace in minutes").get("") or 0))

    def set_grace(self, homework: str, grace: timedelta) -> None:
        """Log how long after the due date is still in time, unless that is known already."""
        if grace != (before := self.grace(homework)):
            now, was = (one.total_seconds() / 60 for one in (grace, before))
            self.add(Decision(homework, "", "grace in minutes", now, was))

    def attempts_chosen(self, homework: str) -> dict[str, Decision]:
        """Student → the choice among their attempts that was recorded last."""
        return {entry.student: entry for entry in self._present(homework) if entry.what == "attempt"}

    def _due(self, homework: str) -> datetime | None:
        said = [entry.value for entry in self.all(homework) if entry.what == "due"]
        return datetime.fromisoformat(said[-1]) if said and isinstance(said[-1], str) else None

    def set_due(self, homework: str, due: datetime | None, *, is_noticed: bool = False) -> None:
        """Log when a homework is due, unless that is known already; due has its zone.

        is_noticed: whether it was found in the gradebook, where nbgrader's pages may have set it.
        """
        if due != (before := self._due(homework)):
            self.add(Decision(homework, "", "due", _iso(due), _iso(before), is_noticed=is_noticed))

    def late_without_time(self, homework: str) -> frozenset[str]:
        """The students whose platform says that they were late, but not by how much."""
        found = self._last(homework, "late without a time").items()
        return frozenset(student for student, value in found if value)

    def record_late(self, homework: str, late: Mapping[str, bool]) -> None:
        """Log what has changed; late: student → whether the platform calls the submission late."""
        before = self.late_without_time(homework)
        self.add(
            *(
                Decision(homework, student, "late without a time", value, not value)
                for student, value in sorted(late.items())
                if value != (student in before)
            )
        )

    def _last(self, homework: str, what: What) -> dict[str, float | bool | str | None]:
        return {entry.student: entry.value for entry in self._present(homework) if entry.what == what}

    def _present(self, homework: str) -> list[Decision]:
        """What applies: the decisions about students who were not forgotten."""
        log = self.all()
        gone = {entry.student for entry in log if entry.what == "forgotten"}
        return [entry for entry in log if entry.homework == homework and entry.student not in gone]

    def notice(self, homework: str, now: Mapping[Given, float]) -> list[Decision]:
        """Log what people entered in the gradebook since the last look; now: what there is → points."""
        logged: dict[Given, float | bool | str | None] = {
            (entry.what, entry.student, entry.cell): entry.value
            for entry in self._present(homework)
            if entry.what in ("mark by hand", "extra credit")
        }
        known = {key: value for key, value in logged.items() if value is not None}
        changed = [
            Decision(homework, student, what, now.get(key), known.get(key), cell, is_noticed=True)
            for key in sorted(known.keys() | now.keys())
            if known.get(key) != now.get(key)
            for what, student, cell in [key]
        ]
        self.add(*changed)
        return changed


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def _line(decision: Decision) -> str:
    return json.dumps(vars(decision)) + "\n"


def _stamped(decision: Decision) -> str:
    """Its line, with the name of this account and the time."""
    time = datetime.now(UTC).isoformat(timespec="seconds")
    return _line(replace(decision, who=_account(), time=time))


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def in_words(decisions: Iterable[Decision]) -> Iterator[str]:
    """The log as lines, oldest first."""
    for entry in decisions:
        where = f" {entry.cell}" if entry.cell else ""
        change = f"{_shown(entry.before)} → {_shown(entry.value)}"
        why = f" ({entry.why})" if entry.why else ""
        whom = f" {entry.student}" if entry.student else ""
        who = f"noticed by {entry.who}" if entry.is_noticed else entry.who
        yield one_line(f"{entry.time}  {who}  {entry.homework}{whom}  {entry.what}{where}: {change}{why}")


def _shown(value: float | bool | str | None) -> str:
    if isinstance(value, bool) or value is None:
        return "yes" if value else "none"
    return value if isinstance(value, str) else f"{value:g}"
