"""The files of a download, a folder or a zip, read without trusting the names and sizes it states.

Links, names that lead out of it, and members that are too large or encrypted are left out, each with a
sentence. The download itself is not changed.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO

from autograder.submissions.collect import MEGABYTE, Unreadable, read

MOST_FILES = 200_000
MOST_NESTED_FILES = 2_000
MEMBER = b"PK\x01\x02"  # begins each entry of a zip's directory
LARGEST_FILE = 100 * MEGABYTE
LARGEST_NAME = 200  # bytes of one part of a path; file systems allow 255
LONGEST_PATH = 1_000  # bytes; the system allows 4096, including the target folder
MOST_PARTS = 50  # of a path; all folders above each file are remembered
TOO_DEEP = f"it is nested in more than {MOST_PARTS - 1} folders"
REPOSITORY = ".git"
OF_THE_SYSTEM = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints"})

Place = tuple[str, ...]


class CollectingError(ValueError):
    """The source cannot be collected from; the message says what to do instead."""


class Spoilt(Unreadable):
    """A member of a zip that could not be used, and how many bytes had been unpacked."""

    def __init__(self, sentence: str, size: int) -> None:
        super().__init__(sentence)
        self.size = size


@dataclass(frozen=True)
class File:
    """A file of a download; `read` returns its bytes, or raises Unreadable with a sentence."""

    path: Place
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        return self.path[-1]


@dataclass(frozen=True)
class Tree:
    """Files, folders (including empty ones), which folders are repositories, and what was left out."""

    files: tuple[File, ...]
    folders: frozenset[Place] = frozenset()
    repositories: frozenset[Place] = frozenset()
    left_out: tuple[tuple[Place, str], ...] = ()
    name: str = ""
    place: Path | None = None  # its path on the disk, unless it is in a zip

    @property
    def tops(self) -> list[str]:
        """The names at the top, in order."""
        paths = [*(file.path for file in self.files), *self.folders, *(path for path, _ in self.left_out)]
        return sorted({path[0] for path in paths if path})

    def below(self, *place: str) -> Tree:
        """The subtree in a folder, with paths relative to it."""
        return Tree(
            tuple(replace(file, path=rest) for file in self.files if (rest := _within(file.path, place))),
            frozenset(rest for path in self.folders if (rest := _within(path, place))),
            frozenset(path[len(place) :] for path in self.repositories if path[: len(place)] == place),
            tuple((rest, why) for path, why in self.left_out if (rest := _within(path, place))),
            place[-1] if place else self.name,
            self.place.joinpath(*place) if self.place else None,
        )


def _within(path: Place, place: Place) -> Place:
    """A path relative to a place; empty if it is not below it."""
    return path[len(place) :] if path[: len(place)] == place else ()


@contextmanager
def opened(source: Path) -> Iterator[Tree]:
    """The tree of a folder or zip; raises CollectingError if it is neither."""
    if source.is_dir():
        yield _folder(source)
    elif not source.exists():
        raise CollectingError(f"There is no {source}.")
    else:
        try:
            archive = zipfile.ZipFile(source)
        except OSError:
            raise
        except Exception as error:
            raise CollectingError(f"{source.name} is neither a folder nor a zip ({_why(error)}).") from error
        with archive:
            yield _archive(archive, source.name.removesuffix(".zip"), MOST_FILES)


def nested(data: bytes, name: str) -> Tree:
    """The tree of a zip that a student handed in; raises Unreadable if it cannot be opened."""
    try:
        _require_few(data.count(MEMBER), 10 * MOST_NESTED_FILES)  # before a million entries are read
        return _archive(zipfile.ZipFile(BytesIO(data)), name, MOST_NESTED_FILES)
    except Exception as error:
        raise Unreadable(f"{name} cannot be opened as a zip ({_why(error)}).") from error


def _why(error: Exception) -> str:
    """What is wrong with a zip; the library raises a dozen kinds of errors, some without a message."""
    return str(error) or type(error).__name__


def _folder(source: Path) -> Tree:
    files, folders, repositories, left_out = [], set(), set(), []
    for here, names, others in os.walk(source):
        place = Path(here).relative_to(source).parts
        if len(place) >= MOST_PARTS:
            left_out.append((place, TOO_DEEP))
            names.clear()
            continue
        folders.add(place)
        if REPOSITORY in names:
            repositories.add(place)
        linked = [name for name in names if Path(here, name).is_symlink()]
        names[:] = sorted(set(names) - {*linked, REPOSITORY, *OF_THE_SYSTEM})
        for name in sorted([*linked, *(name for name in others if name not in {REPOSITORY, *OF_THE_SYSTEM})]):
            path = Path(here, name)
            if path.is_symlink() or not path.is_file():
                left_out.append(((*place, name), "a link" if path.is_symlink() else "not a file"))
            else:
                files.append(File((*place, name), partial(read, path, limit=LARGEST_FILE)))
        if len(files) > MOST_FILES:
            raise CollectingError(f"{source} holds more than {MOST_FILES} files; is it the right folder?")
    return Tree(
        tuple(files),
        frozenset(folders),
        frozenset(repositories),
        tuple(left_out),
        source.resolve().name,
        source,
    )


def _archive(archive: zipfile.ZipFile, name: str, most: int) -> Tree:
    members = archive.infolist()
    _require_few(len(members), most)
    files, folders, repositories, left_out = {}, set(), set(), []
    for member in members:
        path = tuple(part for part in member.filename.split("/") if part not in ("", "."))
        if REPOSITORY in path:
            repositories.add(path[: path.index(REPOSITORY)])
        elif path and not OF_THE_SYSTEM.intersection(path):
            problem = problem_of(member, path) or ("a second file of this name" if path in files else None)
            if len(member.filename) <= LONGEST_PATH and len(path) <= MOST_PARTS:
                folders |= {path[:depth] for depth in range(len(path))}
            if problem:
                left_out.append((_shown(path), problem))
            elif member.is_dir():
                folders.add(path)
            else:
                files[path] = File(path, partial(contents, archive, member))
    return Tree(tuple(files.values()), frozenset(folders), frozenset(repositories), tuple(left_out), name)


def _require_few(members: int, most: int) -> None:
    if members > most:
        raise CollectingError(f"it has {members} members; at most {most} are read")


def problem_of(member: zipfile.ZipInfo, path: Place) -> str | None:
    """Why a member of a zip must not be unpacked, or None."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if member.filename.startswith("/") or ".." in path or any(set(part) & {"\\", "\0"} for part in path):
        return "its name leads out of the folder"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "a link" if kind == stat.S_IFLNK else "not a file"
    if any(len(os.fsencode(part)) > LARGEST_NAME for part in path):
        return f"its name is longer than {LARGEST_NAME} bytes"
    if len(os.fsencode(member.filename)) > LONGEST_PATH:
        return f"its path is longer than {LONGEST_PATH} bytes"
    if len(path) > MOST_PARTS:
        return TOO_DEEP
    if member.flag_bits & 1:
        return "encrypted"
    if member.file_size > LARGEST_FILE:
        return f"it says it has {member.file_size / MEGABYTE:.0f} MB"
    return None


def contents(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A member's bytes, at most as many as allowed, whatever size it states; raises Unreadable or Spoilt."""
    try:
        with archive.open(member) as stream:
            return _at_most(stream, LARGEST_FILE)
    except Unreadable:
        raise
    except Exception as error:
        raise Spoilt(f"{member.filename} cannot be unpacked ({_why(error)}).", member.file_size) from error


def _at_most(stream: IO[bytes], limit: int) -> bytes:
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise Unreadable(f"it unpacks to more than {limit / MEGABYTE:.0f} MB.")
    return data


def _shown(path: Iterable[str]) -> Place:
    """A refused path in a form that can be printed and compared, but not followed."""
    parts = tuple(part.replace("\\", "/").replace("\0", "").replace("..", "…") for part in path)
    return tuple(part[:LARGEST_NAME] for part in parts[:10])
