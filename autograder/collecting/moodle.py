"""Moodle, "Download all submissions": `Full Name_NUMBER_assignsubmission_file_/…`, or the same as a prefix.

The number is the participant's number in this assignment only, so students are identified by full name; two
with the same name are told apart by the number. There are no times in the download.
https://docs.moodle.org/en/Using_Assignment
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from autograder.collecting.attempt import Attempt
from autograder.collecting.tree import File, Tree

NAME = re.compile(r"(?P<student>.+)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?(?P<rest>.*)")


def recognises(tree: Tree, homework: str) -> bool:
    """Whether a name at the top has Moodle's pattern."""
    return any(NAME.fullmatch(name) for name in tree.tops)


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """One attempt for each participant; text typed into the page is kept beside the files."""
    files: dict[tuple[str, str], list[File]] = {}
    notes: dict[tuple[str, str], list[str]] = {}
    for found in filter(None, map(NAME.fullmatch, tree.tops)):
        who, top = (found["student"], found["number"]), found.string
        files.setdefault(who, []).extend(_files(tree, top, found["rest"]))
        refused = [f"left out {'/'.join(path)}: {why}" for path, why in tree.below(top).left_out]
        notes.setdefault(who, []).extend(refused)
    shared = Counter(student for student, _ in files)
    for (student, number), handed in files.items():
        if shared[student] > 1:
            notes[student, number].append(f"{shared[student]} participants are called {student}")
        keys = (student,) if shared[student] == 1 else (f"{student} {number}", number)
        yield Attempt(keys, tuple(handed), notes=tuple(notes[student, number]))


def _files(tree: Tree, top: str, name: str) -> Iterator[File]:
    """The files of the folder `top`, or the file `top` under the name that it was handed in with."""
    yield from tree.below(top).files
    yield from (File((name,), file.read) for file in tree.files if file.path == (top,))
