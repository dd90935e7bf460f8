"""What a download holds that belongs to no student; nothing with a notebook is passed over in silence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from autograder.collecting.attempt import Attempt, renamed_by_a_browser
from autograder.collecting.tree import CollectingError, File, Place, Tree, nested
from autograder.markup import one_line
from autograder.submissions.collect import KEPT, Unreadable

MOST_NAMES = 20
OF_A_MAC = "._"  # begins the name of a companion file, which has the ending of the real one


def unclaimed(tree: Tree, attempts: Iterable[Attempt], aside: Collection[Place] = ()) -> list[File]:
    """The files of no attempt, in order; aside: paths that the format knows to be no part of this homework.

    A file is the same under another path if it is read in the same way.
    """
    taken = {id(file.read) for attempt in attempts for file in attempt.files}
    rest = (file for file in tree.files if id(file.read) not in taken and file.path not in aside)
    return sorted((file for file in rest if file.path[0] != KEPT), key=lambda file: file.path)


def holds_a_notebook(file: File) -> bool:
    """Whether a file is a notebook, one that a browser renamed, or a zip with one in it."""
    name = file.name.lower()
    if name.startswith(OF_A_MAC):
        return False
    if name.endswith(".zip"):
        return _holds_one_within(file)
    return name.endswith(".ipynb") or renamed_by_a_browser(file) is not None


def _holds_one_within(archive: File) -> bool:
    """Whether a zip has a notebook, or cannot be opened to see that it has none."""
    try:
        inside = nested(archive.read(), archive.name)
    except Unreadable:
        return True
    return any(file.name.lower().endswith(".ipynb") for file in inside.files)


def require_most(form: str, students: Collection[str], lost: Sequence[File]) -> None:
    """Refuse a download with as many notebooks of nobody as students: the format may be another."""
    if lost and len(lost) >= len(students):
        raise CollectingError(
            f"This looks like {form}, with {len(students)} of its students, but it is unclear whose these "
            f"{len(lost)} are: {listed([file.path for file in lost])}. "
            "Nothing was collected. Remove those, or name them as the others are, and collect again."
        )


def listed(paths: Sequence[Place]) -> str:
    """The first of these paths, in a form that can be printed."""
    more = f", and {len(paths) - MOST_NAMES} more" if len(paths) > MOST_NAMES else ""
    return ", ".join(one_line("/".join(path)) for path in paths[:MOST_NAMES]) + more
