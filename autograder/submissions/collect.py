"""Find submissions, and read them without trusting them.

Two layouts: nbgrader's `STUDENT/HOMEWORK/NOTEBOOK.ipynb` and flat `STUDENT.ipynb`. Nothing outside the given
directory is ever opened, and every student found is reported, whatever is wrong.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from autograder.markup import one_line
from course.language import say

MEGABYTE = 1_000_000
LARGEST_NOTEBOOK = 20 * MEGABYTE
SUBMITTED = "submitted"  # the course's folder of them, as nbgrader calls it
TIMESTAMP = "timestamp.txt"
KEPT = ".kept"  # the folder beside the students' with the attempts that do not count
IN_CANVAS = "name_in_canvas.txt"  # in the folder of a student's attempts: the file's name in Canvas's zip
# What nbgrader puts beside a submission: when it arrived, and the secret by which its student finds feedback.
RECEIPT = (TIMESTAMP, "submission_secret.txt")
NOT_IN_NAMES = frozenset('"<>\\')
FROM_A_MAC = "__MACOSX"  # what its archives hold beside the files


@dataclass(frozen=True)
class Found:
    """One student's submission: the file to read, or the sentence that says why there is none."""

    student: str
    path: Path | None
    problem: str = ""
    flags: tuple[str, ...] = ()
    handed_in: bool = True  # whether there is anything of this homework at all
    timestamp: str | None = None  # what nbgrader wrote beside the notebook when it was handed in
    folder: Path | None = None  # the student's own, where there is one: of this homework alone


class Unreadable(Exception):
    """A submission that cannot be read; the message is the sentence for the record."""

    @property
    def sentence(self) -> str:
        """The message, which can be said in other languages too."""
        return self.args[0]


class NothingHandedIn(FileNotFoundError):
    """The submissions directory is missing or holds no student."""


def collect(submissions: Path, homework: str) -> list[Found]:
    """Every student under a directory, in alphabetical order; raises NothingHandedIn when there is none."""
    if not submissions.is_dir():
        raise NothingHandedIn(
            f"There is no directory {submissions}; name the one that holds the submissions."
        )
    found = [_found(entry, homework) for entry in _directories_first(submissions) if _is_student(entry)]
    if not found:
        raise NothingHandedIn(
            f"{submissions} contains no submission: there is no STUDENT/{homework}/{homework}.ipynb"
            " and no STUDENT.ipynb."
        )
    return list(_one_each(found))


def _directories_first(folder: Path) -> list[Path]:
    return sorted(folder.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name))


def _is_student(entry: Path) -> bool:
    if entry.name.startswith(".") or entry.name == FROM_A_MAC:
        return False
    return entry.is_dir() or entry.suffix == ".ipynb"


def _found(entry: Path, homework: str) -> Found:
    """The submission that one entry of the submissions directory contains."""
    student = entry.name.removesuffix(".ipynb") if not entry.is_dir() else entry.name
    if problem := _problem_of_name(student):
        return Found(quote(os.fsencode(student), safe=" "), None, problem)
    if entry.is_symlink():
        return Found(student, None, f"{_shown(entry)} is a link; only what was handed in itself is read.")
    try:
        return _in_directory(student, entry, homework) if entry.is_dir() else Found(student, entry)
    except OSError as error:
        return Found(student, None, f"{_shown(entry)} cannot be read ({error.strerror}).")


def _in_directory(student: str, folder: Path, homework: str) -> Found:
    there = folder / homework
    if there.is_symlink():
        return Found(
            student, None, f"{_shown(folder)}/{homework} is a link; only what was handed in itself is read."
        )
    if not there.is_dir():
        others = ", ".join(sorted(map(_shown, folder.iterdir()))[:5])
        there_is = f"; it holds: {others}." if others else "; it is empty."
        said = f"Not handed in: {_shown(folder)}/ holds no directory {homework}{there_is}"
        return Found(student, None, said, handed_in=False)
    return _attempt(student, there, homework)


def _attempt(student: str, there: Path, homework: str) -> Found:
    return replace(_notebook(student, there, homework), timestamp=_timestamp(there / TIMESTAMP), folder=there)


def earlier_attempts(submissions: Path, student: str, homework: str) -> list[Found]:
    """A student's earlier notebooks, as `collect` or `serve` kept them."""
    folder = submissions / KEPT / student / homework
    folders = sorted(path for path in folder.glob("*") if path.is_dir() and not path.is_symlink())
    found = (_attempt(student, path, homework) for path in folders)
    return [attempt for attempt in found if attempt.path is not None]


def name_in_canvas(submissions: Path, student: str, homework: str) -> str:
    """What Canvas called the notebook in the zip that was collected last; "" if it came from elsewhere."""
    try:
        return read(submissions / KEPT / student / homework / IN_CANVAS, limit=2_000).decode()
    except (Unreadable, UnicodeDecodeError):
        return ""


def _timestamp(path: Path) -> str | None:
    try:
        return read(path, limit=200).decode("utf-8", "replace").strip()
    except Unreadable:
        return None


def _notebook(student: str, folder: Path, homework: str) -> Found:
    """The notebook of the homework's name, or the only one there is."""
    wanted = folder / f"{homework}.ipynb"
    if wanted.exists() or wanted.is_symlink():
        return Found(student, wanted)
    others = sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith("."))
    if len(others) == 1:
        return Found(
            student, others[0], flags=(say("The notebook was called {name}.", name=_shown(others[0])),)
        )
    if others:
        names = ", ".join(_shown(path) for path in others)
        problem = say(
            "None of the {count} notebooks is called {name}: {names}.",
            count=len(others),
            name=wanted.name,
            names=names,
        )
        return Found(student, None, problem)
    shown = f"{_shown(folder.parent)}/{homework}"
    if not any(folder.iterdir()):
        return Found(student, None, say("The directory {folder} is empty.", folder=shown))
    return Found(student, None, say("{folder} holds no notebook.", folder=shown))


def _one_each(found: list[Found]) -> Iterator[Found]:
    """A student who is there as a directory and as a file is graded from the directory, and flagged."""
    by_student = {entry.student: entry for entry in reversed(found)}
    for student, entry in sorted(by_student.items()):
        twice = sum(other.student == student for other in found) > 1
        note = (
            (say("{name}.ipynb was also handed in and was ignored.", name=one_line(student)),)
            if twice
            else ()
        )
        yield replace(entry, flags=entry.flags + note)


def _problem_of_name(name: str) -> str:
    """Why a name cannot be a student's, or nothing: formgrader writes it into its pages as it is."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return say("The name of the file or directory is not valid UTF-8.")
    odd = sorted({mark for mark in name if mark in NOT_IN_NAMES or not mark.isprintable()})
    if not odd:
        return ""
    return say(
        "The name of the file or directory holds {characters}; give it the student's name and grade again.",
        characters=" ".join(map(ascii, odd)),
    )


def _shown(path: Path) -> str:
    return one_line(os.fsencode(path.name).decode("utf-8", "replace"))


def read(path: Path, *, limit: int = LARGEST_NOTEBOOK) -> bytes:
    """The bytes of a regular file; no links of either kind, no waiting for pipes. Raises Unreadable."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise Unreadable(say("{file} is a link, not a file.", file=_shown(path))) from error
        reason = error.strerror
        raise Unreadable(
            say("{file} cannot be opened ({reason}).", file=_shown(path), reason=reason)
        ) from error
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise Unreadable(say("{file} is not a file.", file=_shown(path)))
    with open(handle, "rb") as file:
        if status.st_nlink > 1:
            raise Unreadable(say("{file} is a hard link to another file; hand in a copy.", file=_shown(path)))
        if status.st_size > limit:
            raise Unreadable(
                say(
                    "{file} has {size:.0f} MB; at most {most:.0f} MB are read. "
                    "Clear its outputs and hand it in again.",
                    file=_shown(path),
                    size=status.st_size / MEGABYTE,
                    most=limit / MEGABYTE,
                )
            )
        return file.read(limit)
