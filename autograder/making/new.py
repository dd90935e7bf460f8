"""Create a new homework: a folder with one worked exercise that verifies."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from autograder.source.loading import names

FILES = {
    "homework.txt": "{name}.py",
    "misconceptions.txt": "misconceptions.py",
    "fails.txt": "fails.tsv",
    "alternatives.txt": "alternatives.py",
}


class CannotBegin(ValueError):
    """A homework of this name cannot be created; the message says why."""


def new(name: str, root: Path) -> Path:
    """Write solutions/NAME with one worked exercise, and return the folder. Never overwrites anything.

    Raises CannotBegin if the name is taken, or is not valid for both nbgrader and Python.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise CannotBegin(
            f"{name!r}: a name consists of lower-case letters, digits and underscores, such as hw8_mine."
        )
    folder = Path(root) / "solutions" / name
    if name in names(root) or folder.exists():
        raise CannotBegin(f"{folder} exists already.")
    folder.mkdir(parents=True)
    for template, file in FILES.items():
        text = resources.files("autograder.making.template").joinpath(template).read_text(encoding="utf-8")
        (folder / file.format(name=name)).write_text(text.replace("NAME", name), encoding="utf-8")
    return folder
