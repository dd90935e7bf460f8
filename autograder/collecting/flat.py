"""A flat folder or zip: `STUDENT.ipynb`, and nothing else is known."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.collecting.attempt import Attempt
from autograder.collecting.tree import Tree


def recognises(tree: Tree, homework: str) -> bool:
    """There are notebooks at the top."""
    return any(len(file.path) == 1 and file.name.endswith(".ipynb") for file in tree.files)


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """One for each notebook, named by it."""
    for file in tree.files:
        if len(file.path) == 1 and file.name.endswith(".ipynb"):
            yield Attempt((file.name.removesuffix(".ipynb"),), (file,))
