"""The source files of a homework: NAME.py, or a folder parts/ with an introduction and its parts.

`0_introduction.py`, `a_states.py`, `b_backwards.py`: the part's letter and its concept. A part that is too
long for one file is written in numbered pieces, `c1_generation.py` and `c2_filters.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from string import ascii_lowercase

from autograder.source.notebook import Cell, SourceError, read_source

INTRODUCTION = "0"
_NAME = re.compile(r"[0a-z][1-9]?_\w+\.py")
_HEADING = re.compile(r"^#+ Part (?P<letter>[A-Z])\b", re.MULTILINE)


def has_source(folder: Path) -> bool:
    """Whether a folder contains a homework's source, complete or not."""
    return _single(folder).is_file() or bool(_parts(folder))


def source_files(folder: Path) -> tuple[Path, ...]:
    """The files of a homework's source, in order; raises SourceError if they do not form a homework."""
    single, parts = _single(folder), _parts(folder)
    if parts and single.is_file():
        raise SourceError(
            f"{folder} contains both {single.name} and parts; a homework is either one file or parts."
        )
    problem = next(_problems(parts), None)
    if problem:
        raise SourceError(f"{parts[0].parent}: {problem}")
    return parts or (single,)


def joined(files: Sequence[Path]) -> Iterator[Cell]:
    """The cells of these files, one file after the other; raises SourceError."""
    for file in files:
        for cell in read_source(file):
            if len(files) > 1:
                _require_letter(cell)
            yield cell


def _single(folder: Path) -> Path:
    return folder / f"{folder.name}.py"


def _parts(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted((folder / "parts").glob("*.py")))


def _problems(parts: Sequence[Path]) -> Iterator[str]:
    """A sentence for every file that is missing, surplus or not named like a part."""
    for path in parts:
        if not _NAME.fullmatch(path.name):
            yield f"{path.name} is not named like a part: by its letter and its concept, such as a_states.py."
    letters = [(letter, [*files]) for letter, files in groupby(parts, key=_letter)]
    for (letter, files), expected in zip(letters, INTRODUCTION + ascii_lowercase, strict=False):
        if letter != expected:
            missing = "introduction" if expected == INTRODUCTION else f"part {expected.upper()}"
            yield f"{files[0].name} has no {missing} before it: there is no {expected}_….py."
        pieces = [path.name.partition("_")[0] for path in files]
        if pieces not in ([letter], [f"{letter}{number}" for number in range(1, len(files) + 1)]):
            names = ", ".join(path.name for path in files)
            yield f"{names}: the pieces of one part are numbered {letter}1_, {letter}2_ and so on."


def _letter(path: Path) -> str:
    return path.name[0]


def _require_letter(cell: Cell) -> None:
    """Raise SourceError if a part begins in the file of another one."""
    headings = _HEADING.finditer(cell.source) if cell.kind == "markdown" else ()
    for letter in (heading["letter"] for heading in headings):
        if letter.lower() != _letter(cell.line.file):
            raise SourceError(f"{cell.line.where}: Part {letter} begins in a file of another letter.")
