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
from autograder.collecting.tree import CollectingError, File, Tree
from autograder.markup import one_line

NAME = re.compile(
    r"(?:(?!(?:LATE_)?anon_)(?P<student>.+?)_(?P<late>LATE_)?(?P<user>\d+)"
    r"|(?P<unnamed_late>LATE_)?anon_(?P<unnamed>[A-Za-z0-9]{5}))"
    r"_(?:(?P<attachment>\d+)_(?P<name>.+)|(?P<entry>(?:text|link)\.html))",
    re.DOTALL,
)
MOST_NAMES = 20
TYPED = "not a file: typed into Canvas's page, or a link"


def recognises(tree: Tree, homework: str) -> bool:
    """Whether most files at the top have Canvas's names; raises CollectingError if only some of them have."""
    tops = [file for file in tree.files if len(file.path) == 1]
    odd = [one_line(file.name) for file in tops if not NAME.fullmatch(file.name)]
    named = len(tops) - len(odd)
    if named and 2 * named <= len(tops):
        listed = ", ".join(odd[:MOST_NAMES]) + (", …" if len(odd) > MOST_NAMES else "")
        raise CollectingError(
            f"Of {len(tops)} files, {named} are named as Canvas names them and {len(odd)} are not, so it is "
            f"unclear whose they are: {listed}. Remove those, or rename them, and collect again."
        )
    return bool(named)


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """Each notebook of each student, with whatever else they handed in beside it."""
    by_user: dict[str, list[tuple[re.Match, File]]] = {}
    for file in tree.files:
        if found := NAME.fullmatch(file.name):
            name = found["name"] or found["entry"]
            user = found["user"] or found["unnamed"]
            by_user.setdefault(user, []).append((found, replace(file, path=(name,))))
        else:
            yield Attempt((file.name.partition(".")[0],), (file,), notes=("not named as Canvas names files",))
    for user, handed in by_user.items():
        yield from _of_one(user, handed)


def _of_one(user: str, handed: list[tuple[re.Match, File]]) -> Iterator[Attempt]:
    notebooks = [pair for pair in handed if pair[1].name.endswith(".ipynb")] or handed[:1]
    others = tuple(file for found, file in handed if all(file is not own for _, own in notebooks))
    for found, file in notebooks:
        yield Attempt(
            (user, found["student"] or "anonymous"),
            (file, *others),
            order=int(found["attachment"] or 0),
            marked_late=bool(found["late"] or found["unnamed_late"]),
            several="notebooks in one attempt",
            notes=(TYPED,) if found["entry"] else (),
        )
