"""What nbgrader leaves behind when it copies a folder: everything but what may be released."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.making.data_files import data_folders
from autograder.making.leaks import RELEASED
from autograder.source.loading import assignments
from autograder.submissions.collect import RECEIPT


def ignored_files(root: Path) -> list[str]:
    """Globs for `CourseDirectory.ignore`: every file except released ones, time stamps and secrets.

    nbgrader applies the same list to folders, so the names of homeworks and of data folders are excepted.
    """
    names = assignments(root)
    folders = {folder for name in names for folder in data_folders(root / "solutions" / name)}
    return ignore_all_but([*RELEASED, *RECEIPT, *names, *sorted(folders)])


def ignore_all_but(endings: Iterable[str]) -> list[str]:
    """Globs that match every name except those with one of these endings; globs alone cannot say "not".

    [".py"] → ["*[!y]", "*[!p]y", "y", "*[!.]py", "py"], and ".*" for hidden files.
    """
    endings = list(endings)
    tails = {ending[start:] for ending in endings for start in range(1, len(ending) + 1)} - set(endings)
    allowed = tuple(endings)
    globs = [".*"]
    for tail in sorted(tail for tail in tails if not tail.endswith(allowed)):
        globs += [f"*[!{_letters_before(tail, endings)}]{tail}", *([tail] if tail else [])]
    return globs


def _letters_before(tail: str, endings: Sequence[str]) -> str:
    longer = [ending for ending in endings if ending.endswith(tail) and len(ending) > len(tail)]
    return "".join(
        sorted({ending[-len(tail) - 1] for ending in longer}, key=lambda letter: (letter == "-", letter))
    )
