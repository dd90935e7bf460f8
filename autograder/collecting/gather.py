"""From a download to submissions: recognise the format, identify students, choose attempts, file, report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from autograder.collecting.attempt import Attempt
from autograder.collecting.choosing import Chosen, choose
from autograder.collecting.filing import Cabinet, shown
from autograder.collecting.formats import recognise
from autograder.collecting.roster import Roster
from autograder.collecting.tree import Place, Tree, opened
from autograder.collecting.unclaimed import holds_a_notebook, listed, require_most, unclaimed
from autograder.markup import one_line

MOST_NOTES = 20  # printed for one student
LONGEST_NOTE = 400  # characters
TIME_UNKNOWN = "marked late, time unknown"


@dataclass(frozen=True)
class Row:
    """The result for one student: who, from where, when, and what was odd."""

    student: str
    source: str
    time: str
    late: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Collected:
    """One row for each student, and notes on the download as a whole.

    lost: what holds a notebook but belongs to no student, and was not collected.
    """

    form: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    lost: tuple[Place, ...] = ()

    @property
    def late_without_time(self) -> dict[str, bool]:
        """Student → whether the platform says that they were late, but not by how much."""
        return {row.student: row.late == TIME_UNKNOWN for row in self.rows}


def gather(
    source: Path,
    homework: str,
    to: Path,
    *,
    roster: Roster | None = None,
    due: datetime | None = None,
    in_time: bool = False,
    grace: timedelta = timedelta(),
    extensions: Mapping[str, timedelta] | None = None,
) -> Collected:
    """Collect every student's work from a download into TO; raises CollectingError if that is impossible.

    due: with a time zone; later attempts are reported as late.
    in_time: an attempt in time counts before a later one. grace: a delay up to this is not late.
    extensions: student → length of the extension.
    """
    roster = roster or Roster()
    with opened(source) as whole:
        form, tree = recognise(whole, homework)
        every = list(form.attempts(tree, homework))
        by_student = sorted_out(every, roster)
        rest = unclaimed(tree, every, form.aside(tree, homework))
        lost = [file for file in rest if holds_a_notebook(file)]
        require_most(form.name, by_student.keys(), lost)
        cabinet = None if to.exists() and source.is_dir() and to.samefile(source) else Cabinet(to, homework)
        rows = []
        for student, attempts in sorted(by_student.items()):
            until = due + grace + (extensions or {}).get(student, timedelta()) if due else None
            preferred = until if in_time else None
            chosen = choose(attempts, homework, preferred)
            late = lateness(chosen.attempt, due, until)
            timed = form.name == "nbgrader"
            filed = cabinet.file(student, chosen, timed, preferred) if cabinet else []
            rows.append(_row(student, attempts, chosen, filed, roster, late))
        refused = not_told(tree, rows)
        notes = [f"left out {'/'.join(path)}: {why}" for path, why in refused]
        others = [file.path for file in rest if file not in lost]
        notes += [f"of no student, and not collected: {listed(others)}"] if others else []
        absent = sorted(roster.students - by_student.keys())
        notes += [f"nothing from {', '.join(absent)}"] if absent else []
        notes += [] if cabinet else [f"{to} is the source itself: nothing was moved"]
    unread = [path for path, _ in refused if path[-1].lower().endswith((".ipynb", ".zip"))]
    return Collected(form.name, tuple(rows), tuple(notes), (*(file.path for file in lost), *unread))


def not_told(tree: Tree, rows: Iterable[Row]) -> list[tuple[Place, str]]:
    """What was left out of the download and belongs to no student, with the reason."""
    told = {note.removeprefix("left out ") for row in rows for note in row.notes}

    def seen_from_above(path: Place, why: str) -> set[str]:
        return {f"{'/'.join(path[place:])}: {why}" for place in range(len(path))}

    return [(path, why) for path, why in tree.left_out if told.isdisjoint(seen_from_above(path, why))]


def sorted_out(attempts: Iterable[Attempt], roster: Roster) -> dict[str, list[Attempt]]:
    """Every student's attempts; students whose names give the same id are told apart by a digest."""
    by_student: dict[str, dict[str, list[Attempt]]] = {}
    for attempt in attempts:
        student, known = roster.id_of(attempt.keys)
        person = student if known else attempt.keys[0]
        by_student.setdefault(student, {}).setdefault(person, []).append(attempt)
    found: dict[str, list[Attempt]] = {}
    for student, people in by_student.items():
        for person, theirs in people.items():
            own = len(people) == 1 or person == student
            found[
                student
                if own
                else f"{student}-{sha256(person.encode(errors='backslashreplace')).hexdigest()[:6]}"
            ] = theirs
    return found


def _row(
    student: str,
    attempts: list[Attempt],
    chosen: Chosen,
    filed: list[str],
    roster: Roster,
    late: str,
) -> Row:
    people = sorted({attempt.keys[0] for attempt in attempts})
    notes = [f"{', '.join(people)} are one student by the roster"] if len(people) > 1 and roster.ids else []
    if roster.ids and not roster.id_of(chosen.attempt.keys)[1]:
        notes.append("not in the roster")
    return Row(
        student,
        chosen.attempt.keys[-1],
        shown(chosen.attempt.time) if chosen.attempt.time else "",
        late,
        tuple(dict.fromkeys([*notes, *chosen.notes, *filed])),
    )


def lateness(attempt: Attempt, due: datetime | None, until: datetime | None = None) -> str:
    """By how much an attempt is late, or that only the platform says so; empty if it is on time.

    until: an attempt between due and this time is on time.
    """
    if attempt.time is not None and due is not None:
        return _in_words(attempt.time - due) if attempt.time > (until or due) else ""
    return TIME_UNKNOWN if attempt.marked_late else ""


def _in_words(late: timedelta) -> str:
    hours, minutes = divmod(int(late.total_seconds()) // 60, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count)[:20] or "under a minute"


def in_words(collected: Collected) -> Iterator[str]:
    """The table that `autograder collect` prints, one line at a time."""
    heading = Row("student", "from", "when (UTC)", "late", ("what was odd",))
    rows = [heading, *collected.rows]
    widths = [max(len(_cells(row)[place]) for row in rows) for place in range(4)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(_cells(row), widths, strict=True)]
        yield "  ".join([*cells, "; ".join(_few(row.notes))]).rstrip()
    yield ""
    yield from _few(collected.notes)
    late = sum(bool(row.late) for row in collected.rows)
    count = len(collected.rows)
    students = "1 student" if count == 1 else f"{count} students"
    yield f"{collected.form}: {students}" + (f", {late} late" if late else "") + "."


def _cells(row: Row) -> list[str]:
    return [one_line(cell)[:40] for cell in (row.student, row.source, row.time, row.late)]


def _few(notes: Sequence[str]) -> list[str]:
    """The first notes, and how many more there are: one archive can produce thousands of long ones."""
    more = [f"and {len(notes) - MOST_NOTES} more"] if len(notes) > MOST_NOTES else []
    return [*(one_line(note[:LONGEST_NOTE]) for note in notes[:MOST_NOTES]), *more]
