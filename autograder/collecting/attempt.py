"""One attempt of one student, described in the same way for every platform."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import datetime

from autograder.collecting.tree import File, Tree
from autograder.submissions.collect import Unreadable


@dataclass(frozen=True)
class Attempt:
    """Files from one student.

    keys: the platform's names for the student; the first is its own stable id.
    time: when it arrived; None if the download does not say.
    order: tells earlier attempts from later ones where there is no time.
    """

    keys: tuple[str, ...]
    files: tuple[File, ...]
    time: datetime | None = None
    order: int = 0
    marked_late: bool = False  # by the platform
    several: str = "attempts"  # the plural noun for these
    notes: tuple[str, ...] = ()
    name_in_canvas: str = ""  # of its notebook, by which Canvas takes feedback


RENAMED = re.compile(r"(?P<name>.+?)(?:\.ipynb\.(?:txt|json|ipynb)|\.json)", re.IGNORECASE | re.DOTALL)


def renamed_by_a_browser(file: File) -> File | None:
    """A notebook that was saved as `….ipynb.txt` or `….json`, under the name it should have; or None."""
    found = RENAMED.fullmatch(file.name)
    if found is None:
        return None
    try:
        is_notebook = b'"nbformat"' in file.read()
    except Unreadable:
        return None
    return replace(file, path=(*file.path[:-1], f"{found['name']}.ipynb")) if is_notebook else None


def attempt_of(
    keys: tuple[str, ...], tree: Tree, *, time: datetime | None, notes: tuple[str, ...] = ()
) -> Attempt:
    """An attempt with all files of a tree, and a note for each file that was left out."""
    refused = tuple(f"left out {'/'.join(path)}: {why}" for path, why in tree.left_out)
    return Attempt(keys, tree.files, time, notes=(*notes, *refused))


def student_id(name: str) -> str:
    """A name as a folder's name: "Zoë O'Hara" → "zoe-o-hara"; "z.ohara@uni.edu" is left as it is."""
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    kept = re.sub(r"[^\w.@-]+", "-", plain.strip()).strip("-.")
    return (kept.lower() if " " in name.strip() else kept)[:100] or "unnamed"
