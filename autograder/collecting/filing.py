"""File submissions where the grader and nbgrader look for them, without ever overwriting anything.

`TO/STUDENT/HOMEWORK/HOMEWORK.ipynb` counts; everything else that a student handed in is in
`TO/.kept/STUDENT/HOMEWORK`, one folder per attempt, which both ignore.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.collecting.attempt import Attempt
from autograder.collecting.choosing import Chosen
from autograder.collecting.tree import File, Spoilt
from autograder.submissions.collect import IN_CANVAS, KEPT, MEGABYTE, TIMESTAMP, Unreadable

MOST_BYTES_OF_A_STUDENT = 500 * MEGABYTE
TOO_MUCH = f"more than {MOST_BYTES_OF_A_STUDENT // MEGABYTE} MB in all."
NAMES_NOTHING = frozenset({"", ".", ".."})
NOT_THE_PLATFORMS = "timestamp.txt.handed-in"  # a time that a student wrote

Content = Mapping[str, bytes]


@dataclass
class Cabinet:
    """The folder of all submissions of one homework."""

    to: Path
    homework: str

    def file(self, student: str, chosen: Chosen, timed: bool, until: datetime | None = None) -> list[str]:
        """File one student's attempts; returns notes on what was odd.

        timed: whether timestamp.txt was written by the platform, and not by the student.
        until: an attempt up to this time counts before a later one.
        """
        notes: list[str] = []
        content = self.content_of(chosen, timed, notes)
        if chosen.notebook is not None or content:
            notes += self.place(student, content, chosen.attempt.time, until)
        rest = (
            [Attempt(chosen.attempt.keys, chosen.elsewhere, chosen.attempt.time)] if chosen.elsewhere else []
        )
        self.note_name(student, chosen.attempt.name_in_canvas)
        for attempt in (*chosen.others, *rest):
            self.keep(student, contents(attempt.files, timed, notes), attempt.time)
        return notes

    def content_of(self, chosen: Chosen, timed: bool, notes: list[str]) -> dict[str, bytes]:
        """The files that count, by their names in the folder."""
        own = [File((f"{self.homework}.ipynb",), chosen.notebook.read)] if chosen.notebook else []
        return contents([*own, *chosen.beside], timed, notes)

    def place(
        self, student: str, content: Content, time: datetime | None, until: datetime | None = None
    ) -> list[str]:
        """Make these files count, unless those there are the same, later or in time; nothing is lost."""
        there = self.to / student / self.homework
        if not there.is_dir() or not any(there.iterdir()):
            self._write(there, content, time)
            return []
        present = {name: data for name, data in on_disk(there).items() if name != TIMESTAMP}
        earlier = time_in(there)
        if present == content:
            if time is not None and earlier is None:
                (there / TIMESTAMP).write_text(stamp(time))
            return ["there already"]
        if time is not None and earlier is not None and _rank(time, until) < _rank(earlier, until):
            self.keep(student, content, time)
            than = "older than the attempt" if time < earlier else "later than the attempt in time"
            return [f"{than} that is there ({shown(earlier)}); kept, does not count"]
        self.keep(student, present, earlier)
        self._write(there, content, time)
        return ["counts now; what was there is kept"]

    def note_name(self, student: str, name: str) -> None:
        """Keep what Canvas called the notebook that counts."""
        if name:
            folder = self.to / KEPT / student / self.homework
            folder.mkdir(parents=True, exist_ok=True)
            (folder / IN_CANVAS).write_text(name, encoding="utf-8", errors="replace")

    def keep(self, student: str, content: Content, time: datetime | None) -> None:
        """Keep files that do not count; identical ones are kept once."""
        if content:
            name = f"{shown(time).replace(':', '-').replace(' ', 'T')}-{digest(content)[:8]}"
            folder = self.to / KEPT / student / self.homework / name
            if not folder.exists():
                self._write(folder, content, time)

    def _write(self, folder: Path, content: Content, time: datetime | None) -> None:
        """Write the whole folder elsewhere, then move it here; a crash leaves the old or the new one."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = self.to / KEPT
        aside.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="incoming-", dir=aside))
        fresh.chmod(0o755)
        try:
            for name, data in content.items():
                (fresh / name).parent.mkdir(parents=True, exist_ok=True)
                (fresh / name).write_bytes(data)
            if time is not None:
                (fresh / TIMESTAMP).write_text(stamp(time))
            _exchange(fresh, folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _rank(time: datetime, until: datetime | None) -> tuple[bool, datetime]:
    """Later attempts are higher, but those after `until` are below all others."""
    return until is None or time <= until, time


def _exchange(fresh: Path, folder: Path) -> None:
    """Replace a folder whose files are kept elsewhere."""
    if folder.exists():
        before = Path(tempfile.mkdtemp(prefix="outgoing-", dir=fresh.parent))
        os.replace(folder, before / "was")
        os.replace(fresh, folder)
        shutil.rmtree(before)
    else:
        os.replace(fresh, folder)


def contents(files: Iterable[File], timed: bool, notes: list[str]) -> dict[str, bytes]:
    """The bytes of files by their names; files that cannot be read are noted and left out."""
    found: dict[str, bytes] = {}
    folders: set[str] = set()
    room = MOST_BYTES_OF_A_STUDENT
    for file in files:
        if timed and file.path == (TIMESTAMP,):
            continue
        first, *rest = file.path
        path = (NOT_THE_PLATFORMS if first == TIMESTAMP else first, *rest)
        name = "/".join(path)
        above = {"/".join(path[:depth]) for depth in range(1, len(path))}
        try:
            if not NAMES_NOTHING.isdisjoint(path):
                raise Unreadable("this is not the name of a file.")
            if name in found:
                raise Unreadable("a second file of this name.")
            if name in folders or not above.isdisjoint(found):
                raise Unreadable("a file and a folder have the same name.")
            if room < 0:  # unread files cost no time
                raise Unreadable(TOO_MUCH)
            data = file.read()
            room -= len(data)
            if room < 0:
                raise Unreadable(TOO_MUCH)
        except Unreadable as problem:
            room -= problem.size if isinstance(problem, Spoilt) else 0
            notes.append(f"left out {name}: {problem}")
        else:
            found[name] = data
            folders |= above
    return found


def on_disk(folder: Path) -> dict[str, bytes]:
    """The bytes of all files in a folder that was collected before."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def time_in(folder: Path) -> datetime | None:
    try:
        return parse_utc((folder / TIMESTAMP).read_text().strip()).replace(tzinfo=UTC)
    except (OSError, ValueError, TypeError, OverflowError):
        return None


def stamp(time: datetime) -> str:
    """A time in the form that nbgrader writes beside a notebook."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def shown(time: datetime | None) -> str:
    return "undated" if time is None else time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def digest(content: Content) -> str:
    """A digest of the files' names and contents."""
    whole = hashlib.sha256()
    for name in sorted(content):
        for part in (name.encode("utf-8", "surrogateescape"), content[name]):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()
