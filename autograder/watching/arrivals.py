"""A folder in which submissions arrive: when each is complete, and a feedback page beside each."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.marks.exports.marks import Mark
from autograder.marks.hand_marks import HandMarks
from autograder.marks.records import SubmissionRecord, write_text
from autograder.reporting.feedback import AFTER_DUE, feedback_page
from autograder.source.homework import HomeworkSource
from autograder.submissions.collect import Found, NothingHandedIn, Unreadable, collect, read
from autograder.watching.watch import ByHand

SECONDS_TO_SETTLE = 1.0  # without a change, after which a file counts as written
SECONDS_TO_FINISH = 30.0  # after which an incomplete notebook is accepted as the submission
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # of JSON; it always matches, in linear time

# What whoever owns a folder can make of writing to it: a folder in a file's place, no right, nothing there.
OF_THEIR_FOLDER = {errno.EISDIR, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ELOOP}

State = tuple[tuple[str, int, int, int], ...]


@dataclass
class _Seen:
    """A submission, the last seen state of its files, since when, and whether it was taken in that state."""

    found: Found
    state: State
    since: float
    is_taken: bool = False


@dataclass(frozen=True)
class _Told:
    """What a student was told last."""

    page: Path
    record: SubmissionRecord
    homework: HomeworkSource


@dataclass
class Arrivals:
    """`STUDENT/HOMEWORK/…` or `STUDENT.ipynb` below a folder, as `collect` finds them.

    A submission is taken when its files have not changed for a second and its notebook is complete.
    tells_hidden: whether a student may see hidden checks now, by homework and student.
    """

    folder: Path
    tells_hidden: Callable[[str, str], bool] = lambda homework, student: True
    clock: Callable[[], float] = time.monotonic
    seen: dict[tuple[str, str], _Seen] = field(default_factory=dict)
    told: dict[tuple[str, str], _Told] = field(default_factory=dict)
    totals: dict[tuple[str, str], str] = field(default_factory=dict)  # by homework and student

    def all(self, homework: str) -> Sequence[Found]:
        """Every submission that was taken, by student."""
        there = (one for (name, _), one in sorted(self.seen.items()) if name == homework)
        return [one.found for one in there if one.is_taken]

    def arrived(self, homework: str) -> Sequence[Found]:
        """Submissions that are complete, and new or changed since this was last called."""
        return [found for found in self._there(homework) if self._is_ready(homework, found)]

    def _there(self, homework: str) -> list[Found]:
        try:
            return [found for found in collect(self.folder, homework) if found.handed_in]
        except NothingHandedIn:
            return []

    def _is_ready(self, homework: str, found: Found) -> bool:
        state, now = _state_of(found), self.clock()
        one = self.seen.get((homework, found.student))
        if one is None or one.state != state:
            self.seen[homework, found.student] = _Seen(found, state, now)
            return False
        if one.is_taken or now - one.since < SECONDS_TO_SETTLE:
            return False
        if now - one.since < SECONDS_TO_FINISH and not _is_whole(found):
            return False
        one.found, one.is_taken = found, True
        return True

    def give_back(self, submission: Found, record: SubmissionRecord, homework: HomeworkSource) -> None:
        """Write the feedback beside the submission, unless the same page is there already."""
        key = homework.name, submission.student
        found = self.seen[key].found if key in self.seen else submission  # not an attempt that is kept aside
        if (place := found.folder or found.path) is None:
            return
        if key in self.told and self.told[key].record != record:
            self.totals.pop(key, None)
        page = place.with_name(f"{place.name.removesuffix('.ipynb')}.html")
        self.told[key] = _Told(page, record, homework)
        self._write(*key)

    def _write(self, homework: str, student: str) -> None:
        """Write a student's page, unless the same is there, or the student has left no place for it."""
        told, tells = self.told[homework, student], self.tells_hidden(homework, student)
        total = self.totals.get((homework, student), "")
        page = feedback_page(told.record, told.homework, hidden=tells, later=AFTER_DUE, total=total)
        path = told.page
        try:
            if not path.is_file() or path.is_symlink() or path.read_text("utf-8", "replace") != page:
                write_text(path, page)
        except OSError as problem:
            if problem.errno not in OF_THEIR_FOLDER:
                raise

    def marked(self, homework: str, marks: Sequence[Mark], given: Mapping[str, HandMarks]) -> None:
        """Add the gradebook's marks, late penalties included, to the pages that are still there."""
        for mark in marks:
            key = homework, mark.student
            is_there = key in self.told and self.told[key].page.is_file()
            if is_there and self.totals.get(key) != mark.total:
                self.totals[key] = mark.total
                self._write(*key)

    def by_hand(self, homework: str) -> Sequence[ByHand]:
        """None: a folder contains no marks."""
        return ()

    def entered(self, homework: str, mark: ByHand) -> None:
        """There is none."""


def _state_of(found: Found) -> State:
    """The state of a submission's files: path, inode, size and time of each."""
    paths = [found.path] if found.path else []
    for folder, _, names in os.walk(found.folder) if found.folder else ():
        paths += [Path(folder, name) for name in names]
    return tuple(sorted(_state(path) for path in set(paths)))


def _state(path: Path) -> tuple[str, int, int, int]:
    try:
        status = path.lstat()
    except OSError:
        return str(path), 0, 0, 0
    return str(path), status.st_ino, status.st_size, status.st_mtime_ns


def _is_whole(found: Found) -> bool:
    """Whether a notebook has been written to its end: every brace that opens is closed."""
    if found.path is None:
        return True
    try:
        bare = STRING.sub(b"", read(found.path))
    except Unreadable:
        return True  # that is what its record will say
    return 0 < bare.count(b"{") == bare.count(b"}")
