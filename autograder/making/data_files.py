"""The data files beside a notebook: the course's own, and those that a student submitted.

They are beside the notebook when it is graded, as with nbgrader's autograde.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from autograder.isolation.files import regular_files
from autograder.making.leaks import RELEASED

ENDINGS = tuple(ending for ending in RELEASED if ending != ".ipynb")
MOST_BYTES = 64 << 20  # of one homework, or of one student
MOST_FILES = 1_000
LONGEST_PATH = 500


class TooMuchData(ValueError):
    """There are too many data files beside a notebook, or they are too large; the message gives the limit."""


def data_files(folder: Path | None) -> dict[str, bytes]:
    """Relative path → bytes, for each file in the folder that a release may contain; raises TooMuchData."""
    try:
        found = regular_files(folder, MOST_BYTES, ENDINGS)
    except ValueError as problem:
        raise TooMuchData(f"{problem}.") from None
    kept = {name: content for name, content in found.items() if _can_be_placed(name)}
    if len(kept) > MOST_FILES:
        raise TooMuchData(f"there are more than {MOST_FILES} files beside the notebook.")
    return kept


def data_folders(folder: Path) -> set[str]:
    """The names of the subfolders that lead to the folder's data files."""
    paths = (path for path in folder.rglob("*") if path.name.endswith(ENDINGS))
    return {part for path in paths for part in path.relative_to(folder).parts[:-1]}


def _can_be_placed(name: str) -> bool:
    """Whether a path is text of a usual length without hidden files or folders."""
    hidden = any(part.startswith((".", "__pycache__")) for part in PurePosixPath(name).parts)
    return name.isprintable() and len(name.encode("utf-8", "replace")) <= LONGEST_PATH and not hidden


def side_by_side(student: Mapping[str, bytes], course: Mapping[str, bytes]) -> dict[str, bytes]:
    """All files of both; the course's own win over a student's file with the same name or in their way."""
    taken = {parent for name in course for parent in _and_above(name)}
    free = {
        name: content
        for name, content in student.items()
        if name not in taken and course.keys().isdisjoint(_and_above(name))
    }
    return {**free, **course}


def _and_above(name: str) -> list[str]:
    """`a/b.csv` → a/b.csv, a."""
    path = PurePosixPath(name)
    return [str(place) for place in (path, *path.parents) if place.name]
