"""Choose and record which of a student's attempts counts: the latest, the latest in time, or the best."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from autograder.grading.clerk import Clerk, Task
from autograder.grading.forked import Lost
from autograder.grading.paper import digest_of
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.late import read_time
from autograder.submissions.collect import Found, earlier_attempts

Which = Literal["latest", "in-time", "best"]
NEVER = datetime.min.replace(tzinfo=UTC)


class NoDueDate(LookupError):
    """`in-time` was asked for, but no due date is known; the message says how to set one."""


@dataclass(frozen=True)
class AttemptChoice:
    """How to choose, for one homework."""

    which: Which
    submissions: Path
    log: Decisions
    clerk: Clerk

    @property
    def homework(self) -> str:
        return self.clerk.plan.homework.name

    def chosen(self, found: Sequence[Found], *, again: bool = False) -> list[Found]:
        """The attempt that counts for each student. again: judge all attempts again to find the best.

        Raises NoDueDate.
        """
        attempts = {one.student: self.attempts(one) for one in found}
        if self.which == "latest":
            return list(found)
        if self.which == "in-time":
            return [self.in_time(attempts[one.student]) for one in found]
        known = {} if again else self.known(attempts)
        unknown = [several for name, several in attempts.items() if name not in known]
        points = self.points([one for several in unknown if len(several) > 1 for one in several])
        best = [max(several, key=lambda one: points.get(_key(one), 0.0)) for several in unknown]
        known |= {one.student: one for one in best}
        return [known[one.student] for one in found]

    def attempts(self, found: Found) -> list[Found]:
        """A student's attempts, oldest first."""
        return attempts_of(found, self.submissions, self.homework)

    def in_time(self, attempts: Sequence[Found]) -> Found:
        """The latest attempt that arrived in time; the latest of all if none did."""
        until = self.log.in_time_until(self.homework, attempts[0].student)
        if until is None:
            raise NoDueDate(
                f"No due date is known for {self.homework}. Set it: `autograder due {self.homework} TIME`."
            )
        return next((one for one in reversed(attempts) if _time(one) <= until), attempts[-1])

    def known(self, attempts: Mapping[str, Sequence[Found]]) -> dict[str, Found]:
        """The best attempts that need no judging: a student's only one, or one recorded as the best."""
        found = {name: several[0] for name, several in attempts.items() if len(several) == 1}
        for entry in self.log.all(self.homework):
            several = attempts.get(entry.student, ())
            is_best = entry.what == "attempt" and entry.why.startswith("best ")
            if is_best and entry.cell == _set(several):
                best = [one for one in several if _key(one) == entry.value]
                found |= {entry.student: best[0]} if best else {}
        return found

    def points(self, attempts: Sequence[Found]) -> dict[str, float]:
        """Judge each attempt and return its points, without recording them."""
        points = {}
        for task, result in self.clerk.judges.judged([Task(one) for one in attempts], self.clerk.plan):
            earned = 0.0 if isinstance(result, Lost) else result["record"]["points"]
            points[_key(task.submission)] = earned
        return points

    def record(self, found: Sequence[Found], chosen: Sequence[Found]) -> None:
        """Record which attempts count."""
        record(self.log, self.homework, self.submissions, self.which, found, chosen)


def record(
    log: Decisions,
    homework: str,
    submissions: Path,
    which: Which,
    found: Sequence[Found],
    chosen: Sequence[Found],
) -> None:
    """Record which attempts count, for students with several attempts whose choice has changed."""
    last = log.attempts_chosen(homework)
    for in_place, one in zip(found, chosen, strict=True):
        several, before = attempts_of(in_place, submissions, homework), last.get(one.student)
        key, among = _key(one), _set(several)
        if len(several) > 1 and (before is None or (before.value, before.cell) != (key, among)):
            why = f"{which} of {len(several)}"
            old = None if before is None else before.value
            log.add(Decision(homework, one.student, "attempt", key, old, among, why))


def attempts_of(found: Found, submissions: Path, homework: str) -> list[Found]:
    """A student's attempts, oldest first; among those without a time, the current submission is last."""
    earlier = earlier_attempts(submissions, found.student, homework)
    return sorted([*earlier, found], key=lambda one: (_time(one), one is found))


def as_chosen(found: Sequence[Found], submissions: Path, log: Decisions, homework: str) -> list[Found]:
    """The attempts that were chosen last, and the submission itself where there is another attempt since."""
    last = log.attempts_chosen(homework)
    return [_as_chosen(one, submissions, last[one.student]) if one.student in last else one for one in found]


def _as_chosen(found: Found, submissions: Path, choice: Decision) -> Found:
    several = attempts_of(found, submissions, choice.homework)
    there = [one for one in several if _key(one) == choice.value]
    return there[0] if there and _set(several) == choice.cell else found


def _time(found: Found) -> datetime:
    try:
        return read_time((found.timestamp or "").replace(" UTC", "+00:00"))
    except ValueError:
        return NEVER


def _key(found: Found) -> str:
    """An attempt by its time and its content."""
    return f"{found.timestamp or 'undated'} {digest_of(found)[:12]}"


def _set(attempts: Sequence[Found]) -> str:
    """A digest of these attempts together."""
    return hashlib.sha256("\n".join(sorted(map(_key, attempts))).encode()).hexdigest()[:12]
