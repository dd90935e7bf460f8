"""Earlier releases of a homework, kept as digests of their cells; `submissions.repair` compares with them.

`solutions/NAME/earlier_releases.json` holds digests of earlier versions of each cell, and null if a release
did not have the cell. Every release adds what it replaces, so the file belongs with the sources.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.source.released import EarlierCell, SourceCell

FILE = "earlier_releases.json"
SETTINGS = (
    "grade",
    "locked",
    "points",
    "schema_version",
    "solution",
    "task",
)  # of nbgrader's, those we compare

Cells = Mapping[str, Mapping[str, Any]]


@lru_cache(maxsize=10_000)
def plain(text: str) -> str:
    """A text for comparison, without the differences that editors make at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@lru_cache(maxsize=10_000)
def digest_of(text: str) -> str:
    """The digest of a cell's text."""
    return hashlib.sha256(plain(text).encode()).hexdigest()[:16]


class UnreadableHistory(ValueError):
    """A file of earlier releases cannot be read; the message says which, and what to do."""


def with_earlier(source: Sequence[SourceCell], folder: Path) -> tuple[SourceCell, ...]:
    """The cells of a homework, each with its earlier versions; raises UnreadableHistory."""
    known = _read(folder)
    return tuple(replace(cell, earlier=tuple(known.get(cell.name, ()))) for cell in source)


def retired(source: Sequence[SourceCell], folder: Path) -> dict[str, frozenset[str]]:
    """Earlier releases' cells that no longer exist and were not written by students: name → digests of texts.

    Raises UnreadableHistory.
    """
    now = {cell.name for cell in source}
    return {
        name: frozenset(was.text for was in entries if was)
        for name, entries in _read(folder).items()
        if name not in now and not any(was and was.nbgrader.get("solution") for was in entries)
    }


def keep(folder: Path, before: Mapping, after: Mapping) -> None:
    """Add the previous version of each changed cell of the students' notebook to a homework's file."""
    known, old, new = _read(folder), _cells(before), _cells(after)
    changed = False
    for name in {**old, **new}:
        was = old.get(name)
        if name in old.keys() ^ new.keys() or was != new.get(name):
            entries = known.setdefault(name, [])
            if was not in entries:
                entries.append(was)
                changed = True
    if changed:
        said = {name: [entry and _as_json(entry) for entry in known[name]] for name in sorted(known)}
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entries)}" for name, entries in said.items())
        (folder / FILE).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def _read(folder: Path) -> dict[str, list[EarlierCell | None]]:
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: [None if entry is None else _from_json(entry) for entry in entries]
            for name, entries in said.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableHistory(
            f"{path} cannot be read ({error!r}). Restore it from a backup, or remove it: then work made from "
            "earlier releases is no longer recognised as such."
        ) from error


def _as_json(cell: EarlierCell) -> dict[str, Any]:
    return {"text": cell.text, "kind": cell.kind, **cell.nbgrader}


def _from_json(said: Mapping[str, Any]) -> EarlierCell:
    return EarlierCell(said["text"], said["kind"], {key: said[key] for key in SETTINGS if key in said})


def _cells(notebook: Mapping) -> dict[str, EarlierCell]:
    """The cells of a students' notebook that nbgrader knows, by name."""
    found = {}
    for cell in notebook["cells"]:
        nbgrader = cell["metadata"].get("nbgrader", {})
        if name := nbgrader.get("grade_id"):
            settings = {key: nbgrader[key] for key in SETTINGS if key in nbgrader}
            found[name] = EarlierCell(digest_of("".join(cell["source"])), cell["cell_type"], settings)
    return found


def nbgraders_checksum(name: str, kind: str, text: str, nbgrader: Mapping[str, Any]) -> str | None:
    """What nbgrader writes into a released cell; None for settings that it would not have written.

    It has no secret: it shows what made an honest cell, and anyone can compute it for a forged one.
    """
    is_grade, is_solution = nbgrader.get("grade", False), nbgrader.get("solution", False)
    is_locked = False if is_solution else (True if is_grade else nbgrader.get("locked", False))
    if not all(isinstance(setting, bool) for setting in (is_grade, is_solution, is_locked)):
        return None
    try:
        points = [str(float(nbgrader["points"]))] if is_grade else []
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    parts = [text, kind, str(is_grade), str(is_solution), str(is_locked), name, *points]
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()
