"""Turn percent-format source into cells, and cells into notebooks whose bytes depend on nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Label = str | int | float | bool

ALIVE = "alive"  # the label, and in a notebook the metadata, of a cell that the grader does not run

KNOWN_LABELS = {
    "setup": "where the set-up cell goes",
    "rules": "where the rules for all exercises are filled in",
    "provided": "a locked cell that runs everywhere",
    "helper": "a provided cell that only checks need; all of these are placed together after the imports",
    "exercise": "the statement of an exercise",
    "difficulty": "1 to 3",
    "minutes": "how long it takes",
    "bonus": "on an exercise or a written question: its points are on top of the homework's maximum",
    "forbids": "what the solution must not call",
    "exempt": "the rules for all exercises that do not apply to this one",
    "dtype": "the dtype that answers must have, if that is the point of the exercise",
    "allows": "what the solution may use of the course's package",
    "trained": "a model is trained here, so the numbers differ between processors; "
    'on an exercise, ="reference" says that its known mistakes are built by hand',
    "solution": "the cell the student edits",
    "check": "a claim about the exercise",
    "hidden": "a check that is not released",
    "written": "a question graded by hand",
    "points": "what a check or a written question is worth",
    ALIVE: "puts the student's own parts together; ungraded, free to be changed, and not run by the grader",
    "tags": "the cell's tags in the notebook",
    "gpu": "on the set-up cell: ask Colab for a GPU",
}

_MARKER = "# %%"  # begins the line above a cell
_KIND = re.compile(r"^\s*\[(?P<kind>\w+)\]")
_LABEL = re.compile(
    r'\s+(?P<name>\w+)(?:=(?:"(?P<text>[^"]*)"|(?P<number>-?\d+(?:\.\d+)?)(?=\s|$)))?(?=\s|$)'
)


class SourceError(ValueError):
    """A percent-format source that cannot be read; the message names the file and the line."""


class Line(int):
    """The number of a line, which also knows its file."""

    file: Path

    def __new__(cls, number: int, file: Path = Path("source")) -> Line:
        line = super().__new__(cls, number)
        line.file = file
        return line

    @property
    def where(self) -> str:
        """`solutions/hw3_recurrent/parts/a_states.py, line 12`."""
        return f"{self.file}, line {self}"


FIRST = Line(1)


@dataclass(frozen=True)
class Cell:
    """One cell: its kind, its text, the labels of its `# %%` line, and the line where the text starts."""

    kind: str  # "code" or "markdown"
    source: str
    labels: Mapping[str, Label] = field(default_factory=dict)
    line: Line = FIRST

    @property
    def points(self) -> float:
        """The points in its label, 0 without one; raises SourceError if they are not a number."""
        points = self.labels.get("points", 0)
        if isinstance(points, str | bool):
            raise SourceError(f"{self.line.where}: the label `points` must be a number, as in points=1.")
        return points


def read_source(path: Path) -> list[Cell]:
    """The cells of a percent-format file; raises SourceError."""
    return parse(path.read_text(encoding="utf-8"), path)


def parse(text: str, file: Path = FIRST.file) -> list[Cell]:
    """Split text at its `# %%` lines; comments and a docstring before the first one belong to no cell."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(_MARKER)]
    if not starts:
        raise SourceError(f"{file} has no cell: a cell starts with a line `# %%`.")
    ends = [*starts[1:], len(lines)]
    return [_cell(lines, start, end, file) for start, end in zip(starts, ends, strict=True)]


def _cell(lines: list[str], start: int, end: int, file: Path) -> Cell:
    kind, labels = _read_marker(lines[start].removeprefix(_MARKER), Line(start + 1, file).where)
    first, last = start + 1, end
    while last > first and not lines[last - 1].strip():
        last -= 1
    while first < last and not lines[first].strip():
        first += 1
    body = lines[first:last]
    if kind == "markdown":
        body = [_uncomment(line, Line(number, file).where) for number, line in enumerate(body, first + 1)]
    return Cell(kind, "\n".join(body), labels, Line(first + 1, file))


def _read_marker(rest: str, where: str) -> tuple[str, dict[str, Label]]:
    """` [markdown] written="why" points=1` → ("markdown", {"written": "why", "points": 1})."""
    bracket = _KIND.match(rest)
    kind = bracket["kind"] if bracket else "code"
    if kind not in ("code", "markdown"):
        raise SourceError(f"{where}: a cell is code or [markdown], not [{kind}].")
    rest = rest[bracket.end() :] if bracket else rest
    labels: dict[str, Label] = {}
    while rest.strip():
        found = _LABEL.match(rest)
        if found is None:
            raise SourceError(
                f'{where}: cannot read the label at "{rest.strip()}"; write key="text", key=1 or key.'
            )
        if found["name"] not in KNOWN_LABELS:
            known = ", ".join(KNOWN_LABELS)
            raise SourceError(f"{where}: there is no label called {found['name']}. There are: {known}.")
        labels[found["name"]] = _value(found)
        rest = rest[found.end() :]
    return kind, labels


def _value(found: re.Match[str]) -> Label:
    if found["text"] is not None:
        return found["text"]
    if found["number"] is not None:
        return float(found["number"]) if "." in found["number"] else int(found["number"])
    return True


def _uncomment(line: str, where: str) -> str:
    if line.strip() and not line.startswith("#"):
        raise SourceError(f"{where}: every line of a markdown cell starts with `#`.")
    return line.removeprefix("#").removeprefix(" ").rstrip()


def notebook_cell(cell_id: str, kind: str, source: str, metadata: Mapping | None = None) -> dict:
    """One cell of a notebook in format 4.5, without outputs."""
    common = {"cell_type": kind, "id": cell_id, "metadata": dict(metadata or {}), "source": source}
    return common | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def notebook(cells: Iterable[dict], metadata: Mapping | None = None) -> dict:
    """A notebook in format 4.5 for the ordinary Python kernel, which every front end finds by itself."""
    kernel = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return {
        "cells": list(cells),
        "metadata": kernel | dict(metadata or {}),
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def to_json(content: Mapping) -> str:
    """A notebook in canonical form: keys sorted, text split into lines, final newline."""
    lined = {**content, "cells": [_with_lines(cell) for cell in content["cells"]]}
    return json.dumps(lined, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def _with_lines(cell: Mapping) -> dict:
    lined = {**cell, "source": _lines(cell["source"])}
    if "outputs" in cell:
        lined["outputs"] = [_output_with_lines(output) for output in cell["outputs"]]
    return lined


def _output_with_lines(output: Mapping) -> dict:
    data = output.get("data", {})
    text = {mime: _lines(shown) for mime, shown in data.items() if mime.startswith("text/")}
    return {
        **output,
        **({"text": _lines(output["text"])} if "text" in output else {}),
        **({"data": {**data, **text}} if data else {}),
    }


def _lines(text: str | list[str]) -> list[str]:
    return text.splitlines(keepends=True) if isinstance(text, str) else text
