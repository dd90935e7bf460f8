"""nbgrader's own layout: `STUDENT/HOMEWORK/…`, with the time in `timestamp.txt`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from nbgrader.utils import parse_utc

from autograder.collecting.attempt import Attempt, attempt_of
from autograder.collecting.choosing import is_called
from autograder.collecting.tree import Place, Tree
from autograder.submissions.collect import TIMESTAMP, Unreadable


def recognises(tree: Tree, homework: str) -> bool:
    """Whether some folder contains one with the homework's name."""
    return any(len(path) == 2 and path[1] == homework for path in tree.folders)


def aside(tree: Tree, homework: str) -> set[Place]:
    """The files of other homeworks: of folders in which somebody's notebook has the folder's name."""
    deep = [file for file in tree.files if len(file.path) > 2]
    named = {file.path[1] for file in deep if file.path[2:] == (f"{file.path[1]}.ipynb",)}
    others = {name for name in named if not is_called(name, homework)}
    return {file.path for file in deep if file.path[1] in others}


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """One attempt for each student with a folder for this homework."""
    for student in tree.tops:
        if (student, homework) in tree.folders and not student.startswith("."):
            handed = tree.below(student, homework)
            yield attempt_of((student,), handed, time=_time(handed))


def _time(handed: Tree) -> datetime | None:
    for file in handed.files:
        if file.path == (TIMESTAMP,):
            try:
                return parse_utc(file.read()[:200].decode("utf-8", "replace").strip()).replace(tzinfo=UTC)
            except (Unreadable, ValueError, TypeError, OverflowError):
                return None
    return None
