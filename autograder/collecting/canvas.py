"""Canvas, "Download Submissions": one flat zip, `lastfirst[_LATE]_USER_ATTACHMENT_name.ipynb`.

It contains no times, only LATE; attachment numbers grow with time. It contains only the last attempt of each
student, which may be several files, a text typed into the page (`…_text.html`) or a link (`…_link.html`). For
anonymous students, `[LATE_]anon_XXXXX` takes the place of name and number.
The names: lib/content_zipper.rb in github.com/instructure/canvas-lms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from autograder.collecting.attempt import Attempt
from autograder.collecting.tree import File, Tree

NAME = re.compile(
    r"(?:(?!(?:LATE_)?anon_)(?P<student>.+?)_(?P<late>LATE_)?(?P<user>\d+)"
    r"|(?P<unnamed_late>LATE_)?anon_(?P<unnamed>[A-Za-z0-9]{5}))"
    r"_(?:(?P<attachment>\d+)_(?P<name>.+)|(?P<entry>(?:text|link)\.html))",
    re.DOTALL,
)
TYPED = "not a file: typed into Canvas's page, or a link"
ANOTHER = re.compile(r"\d+_.+", re.DOTALL)  # after three numbers, of which the first may belong to a name


def recognises(tree: Tree, homework: str) -> bool:
    """Whether a file at the top has Canvas's name."""
    return any(len(file.path) == 1 and NAME.fullmatch(file.name) for file in tree.files)


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """Each notebook of each student, with whatever else they handed in beside it."""
    by_user: dict[str, list[tuple[re.Match, File]]] = {}
    for file in tree.files:
        if found := NAME.fullmatch(file.name):
            name = found["name"] or found["entry"]
            user = found["user"] or found["unnamed"]
            by_user.setdefault(user, []).append((found, replace(file, path=(name,))))
    for user, handed in by_user.items():
        yield from _of_one(user, handed)


def _of_one(user: str, handed: list[tuple[re.Match, File]]) -> Iterator[Attempt]:
    notebooks = [pair for pair in handed if pair[1].name.endswith(".ipynb")] or handed[:1]
    doubts = sorted({doubt for found, _ in handed for doubt in _doubt(found)})
    others = tuple(file for found, file in handed if all(file is not own for _, own in notebooks))
    for found, file in notebooks:
        yield Attempt(
            (user, found["student"] or "anonymous"),
            (file, *others),
            order=int(found["attachment"] or 0),
            marked_late=bool(found["late"] or found["unnamed_late"]),
            several="notebooks in one attempt",
            notes=(*([TYPED] if found["entry"] else []), *doubts),
            name_in_canvas="" if found["entry"] else found.string,
        )


def _doubt(found: re.Match) -> Iterator[str]:
    """What a person should look at if a file's name can be read in two ways."""
    user, other = found["user"], found["attachment"]
    if user and ANOTHER.fullmatch(found["name"] or ""):
        yield f"{found['name']} is user {user}'s, or user {other}'s if a name ends in _{user}: see in Canvas"
