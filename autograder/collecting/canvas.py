"""Canvas, "Download Submissions": one flat zip, `lastfirst[_LATE]_USER_ATTACHMENT_name.ipynb`.

There are no times in it, only LATE; attachment numbers grow with time.
https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-download-all-student-submissions/ta-p/633
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from autograder.collecting.attempt import Attempt
from autograder.collecting.tree import File, Tree

NAME = re.compile(
    r"(?P<student>[^_]*)(?P<late>_LATE)?_(?P<user>\d+|(?<=anon_)[a-z0-9]{5})_(?P<attachment>\d+)_(?P<name>.+)",
    re.IGNORECASE | re.DOTALL,
)


def recognises(tree: Tree, homework: str) -> bool:
    """Most files at the top have Canvas's names."""
    tops = [file for file in tree.files if len(file.path) == 1]
    matching = [file for file in tops if NAME.fullmatch(file.name)]
    return bool(matching) and 2 * len(matching) > len(tops)


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """Each student's notebooks one by one, and beside each whatever else they handed in."""
    by_user: dict[str, list[tuple[re.Match, File]]] = {}
    for file in tree.files:
        if found := NAME.fullmatch(file.name):
            by_user.setdefault(found["user"], []).append((found, replace(file, path=(found["name"],))))
        else:
            yield Attempt((file.name.partition(".")[0],), (file,), notes=("not named as Canvas names files",))
    for user, handed in by_user.items():
        yield from _of_one(user, handed)


def _of_one(user: str, handed: list[tuple[re.Match, File]]) -> Iterator[Attempt]:
    notebooks = [pair for pair in handed if pair[1].name.endswith(".ipynb")] or handed[:1]
    others = tuple(file for found, file in handed if all(file is not own for _, own in notebooks))
    for found, file in notebooks:
        keys = (user, found["student"])
        order = int(found["attachment"])
        yield Attempt(keys, (file, *others), order=order, marked_late=bool(found["late"]))
