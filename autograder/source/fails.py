"""The checks that each misconception fails: measured by `autograder verify --accept`, kept in a table.

`solutions/NAME/fails.tsv` has one row for each: its exercise, its name, its checks. It is committed, so that
a change in what the checks can distinguish shows as a diff of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.source.notebook import SourceError

FILE = "fails.tsv"
HEADER = ("exercise", "misconception", "fails")

Row = tuple[str, str]  # exercise, misconception
Fails = Mapping[Row, frozenset[str]]  # the names of checks, visible and hidden


def read_fails(folder: Path) -> Fails:
    """The table of the homework in this folder, {} if none has been written yet; raises SourceError."""
    path = folder / FILE
    lines = path.read_text(encoding="utf-8").splitlines()[1:] if path.is_file() else []
    try:
        rows = [line.split("\t") for line in lines]
        return {(exercise, name): frozenset(checks.split()) for exercise, name, checks in rows}
    except ValueError as error:
        raise SourceError(
            f"{path} is not a table of {len(HEADER)} columns: remove it and let verify --accept write it."
        ) from error


def write_fails(folder: Path, fails: Mapping[Row, Iterable[str]]) -> None:
    """Replace the table; rows and checks are sorted by name."""
    rows = ((*row, " ".join(sorted(checks))) for row, checks in sorted(fails.items()))
    text = "".join("\t".join(row) + "\n" for row in (HEADER, *rows))
    (folder / FILE).write_text(text, encoding="utf-8")
