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
    for top in tree.tops:
        found = NAME.fullmatch(top)
        who = (found["student"], found["number"]) if found else (top.partition(".")[0], "")
        files.setdefault(who, []).extend(_files(tree, top, found))
        refused = [f"left out {'/'.join(path)}: {why}" for path, why in tree.below(top).left_out]
        notes.setdefault(who, []).extend([*refused, *([] if found else ["not named as Moodle names files"])])
    shared = Counter(student for student, _ in files)
    for (student, number), handed in files.items():
        if shared[student] > 1:
            notes[student, number].append(f"{shared[student]} participants are called {student}")
        keys = (student,) if shared[student] == 1 else (f"{student} {number}", number)
        yield Attempt(keys, tuple(handed), notes=tuple(notes[student, number]))


def _files(tree: Tree, top: str, found: re.Match | None) -> Iterator[File]:
    yield from tree.below(top).files
    rest = found["rest"] if found else top
    yield from (File((rest,), file.read) for file in tree.files if file.path == (top,))
