"""A flat folder or zip of `STUDENT.ipynb` files, without any other information."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.collecting.attempt import Attempt, renamed_by_a_browser
from autograder.collecting.tree import File, Tree

NOTEBOOK = ".ipynb"


def recognises(tree: Tree, homework: str) -> bool:
    """Whether there are notebooks at the top."""
    return any(_notebooks(tree))


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """One attempt for each notebook, which names the student."""
    for file, notes in _notebooks(tree):
        yield Attempt((file.name.removesuffix(NOTEBOOK),), (file,), notes=notes)


def _notebooks(tree: Tree) -> Iterator[tuple[File, tuple[str, ...]]]:
    for file in tree.files:
        if len(file.path) == 1 and file.name.endswith(NOTEBOOK):
            yield file, ()
        elif len(file.path) == 1 and (restored := renamed_by_a_browser(file)):
            yield restored, (f"{file.name} is a notebook",)
