"""Choose which of a student's attempts counts, and which of its files is the notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from autograder.collecting.attempt import Attempt, renamed_by_a_browser
from autograder.collecting.tree import File, Tree, nested
from autograder.submissions.collect import Unreadable

COPY = re.compile(r"[ _]?\(\d+\)$|-\d+$|[ _-]copy\d*$", re.IGNORECASE)  # as browsers, Canvas and Jupyter add
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Chosen:
    """The attempt that counts, its notebook, the files beside it, and everything else that was handed in."""

    attempt: Attempt
    notebook: File | None
    beside: tuple[File, ...]  # paths relative to the notebook's folder
    elsewhere: tuple[File, ...]
    others: tuple[Attempt, ...]  # earlier ones first
    notes: tuple[str, ...]


def choose(attempts: Iterable[Attempt], homework: str, until: datetime | None = None) -> Chosen:
    """Choose the latest attempt; of several with the same time, one that is named like the homework.

    until: choose the latest attempt up to this time, if there is one.
    """
    ordered = sorted(attempts, key=lambda attempt: (_is_in_time(attempt, until), _rank(attempt, homework)))
    latest = ordered[-1]
    notes = [*latest.notes]
    if len(ordered) > 1:
        which = "latest" if until is None else "latest in time"
        notes.append(f"{len(ordered)} {latest.several}; the {which} counts, the others are kept")
    attempt = _with_names_restored(_unpacked(latest, notes), notes)
    notebook = notebook_of(attempt.files, homework)
    notebooks = [file for file in attempt.files if _is_notebook(file)]
    if notebook is None:
        several = ", ".join("/".join(file.path) for file in notebooks[:4])
        notes.append(f"none of its notebooks is called {homework}: {several}" if several else "no notebook")
    elif notebook.name != f"{homework}.ipynb":
        notes.append(f"the notebook was called {notebook.name}")
    folder = notebook.path[:-1] if notebook else ()
    files = [file for file in attempt.files if file is not notebook]
    beside = [file for file in files if file.path[: len(folder)] == folder]
    return Chosen(
        attempt,
        notebook,
        tuple(replace(file, path=file.path[len(folder) :]) for file in beside),
        tuple(file for file in files if file.path[: len(folder)] != folder),
        tuple(ordered[:-1]),
        tuple(notes),
    )


def notebook_of(files: Iterable[File], homework: str) -> File | None:
    """The notebook with the homework's name that is nearest the top; otherwise the only notebook."""
    notebooks = sorted(filter(_is_notebook, files), key=lambda file: (len(file.path), file.path))
    named = [file for file in notebooks if _is_named(file, homework)]
    exactly = [file for file in named if file.name == f"{homework}.ipynb"]
    only = notebooks if len(notebooks) == 1 else []
    return next(iter([*exactly, *named, *only]), None)


def _is_in_time(attempt: Attempt, until: datetime | None) -> bool:
    """Whether an attempt is in time; every attempt is if no time is set."""
    if until is None:
        return True
    return not attempt.marked_late if attempt.time is None else attempt.time <= until


def _with_names_restored(attempt: Attempt, notes: list[str]) -> Attempt:
    """An attempt without a notebook, with those restored that a browser saved under another name."""
    if any(map(_is_notebook, attempt.files)):
        return attempt
    files = []
    for file in attempt.files:
        restored = renamed_by_a_browser(file)
        notes += [f"{file.name} is a notebook"] if restored else []
        files.append(restored or file)
    return replace(attempt, files=tuple(files))


def _rank(attempt: Attempt, homework: str) -> tuple:
    notebook = notebook_of(attempt.files, homework)
    is_named = notebook is not None and _is_named(notebook, homework)
    return attempt.time or NEVER, is_named, attempt.order


def _is_notebook(file: File) -> bool:
    return file.name.lower().endswith(".ipynb") and not file.name.startswith(".")


def is_called(name: str, homework: str) -> bool:
    """Whether this is the homework's name, apart from case, hyphens and the endings of copies."""
    return _plain(homework) in (_plain(name), _plain(COPY.sub("", name)))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _is_named(file: File, homework: str) -> bool:
    return is_called(file.name[: -len(".ipynb")], homework)


def _unpacked(attempt: Attempt, notes: list[str]) -> Attempt:
    """An attempt without a notebook but with one zip, with the contents of the zip."""
    zips = [file for file in attempt.files if file.name.lower().endswith(".zip")]
    if len(zips) != 1 or any(map(_is_notebook, attempt.files)):
        return attempt
    try:
        inside: Tree = nested(zips[0].read(), zips[0].name)
    except Unreadable as problem:
        notes.append(str(problem))
        return attempt
    notes.append(f"handed in as {zips[0].name}")
    notes += [f"left out {'/'.join(path)}: {why}" for path, why in inside.left_out]
    taken = {file.path for file in attempt.files}
    return replace(
        attempt, files=(*attempt.files, *(file for file in inside.files if file.path not in taken))
    )
