"""A submitted notebook, read leniently: its cells, or one sentence that says why it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from autograder.languages.notebooks import language_in
from autograder.submissions.collect import Unreadable
from course.language import say

DEEPEST = 60  # levels of nesting in a notebook's JSON; honest ones have about ten
MOST_CELLS = 5_000


@dataclass(frozen=True)
class HandedCell:
    """A cell as handed in; nothing in it is trusted, and of the metadata little is kept."""

    kind: str
    source: str
    name: str | None = None
    cell_id: str | None = None
    nbgrader: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    attachments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HandedNotebook:
    """A notebook as handed in: its cells, flags about its format, and the language that it says it is in."""

    cells: list[HandedCell]
    flags: list[str]
    language: str


def parse(data: bytes) -> HandedNotebook:
    """The notebook in a submitted file; raises Unreadable with a sentence."""
    content = _json(data)
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise Unreadable(say("The file is not a notebook: it has no notebook format number."))
    flags: list[str] = []
    if content["nbformat"] == 3:
        content = _upgraded(content)
        flags.append(say("The notebook was in the old format 3 and was converted."))
    if content["nbformat"] != 4:
        raise Unreadable(
            say(
                "The file is in notebook format {number}; only format 4 can be read. "
                "Save it with JupyterLab and hand it in again.",
                number=content["nbformat"],
            )
        )
    cells = content.get("cells")
    if not isinstance(cells, list):
        raise Unreadable(say("The file is not a notebook: it has no list of cells."))
    if len(cells) > MOST_CELLS:
        raise Unreadable(
            say("The notebook has {count} cells; at most {most} are read.", count=len(cells), most=MOST_CELLS)
        )
    return HandedNotebook([_handed(cell) for cell in cells], flags, language_in(content))


def _json(data: bytes) -> Any:
    if not data.strip():
        raise Unreadable(say("The file is empty."))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            say(
                "The file is not a notebook: "
                "it is not UTF-8 text (byte 0x{byte:02x} at position {position}).",
                byte=data[error.start],
                position=error.start,
            )
        ) from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        breaks_off = error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip()) - 1
        if text.lstrip()[:1] in "{[" and breaks_off:
            raise Unreadable(
                say("The notebook ends abruptly in line {line}: the file is incomplete.", line=error.lineno)
            ) from error
        if text.lstrip()[:1] != "{":
            raise Unreadable(say("The file is not a notebook: it does not hold JSON.")) from error
        raise Unreadable(
            say("The notebook is damaged: {error} in line {line}.", error=error.msg, line=error.lineno)
        ) from error
    except (RecursionError, ValueError) as error:
        raise Unreadable(
            say(
                "The file is not a notebook: "
                "its JSON is nested too deeply or contains absurdly large numbers."
            )
        ) from error
    if _depth(content) > DEEPEST:
        raise Unreadable(say("The file is not a notebook: its JSON is nested too deeply."))
    return content


def _depth(content: Any) -> int:
    """How deeply containers are nested, level by level and no further than is allowed."""
    depth, level = 0, [content]
    while depth <= DEEPEST and (containers := [value for value in level if isinstance(value, (dict, list))]):
        depth += 1
        level = list(chain.from_iterable(v.values() if isinstance(v, dict) else v for v in containers))
    return depth


def _upgraded(content: dict) -> dict:
    """A notebook in format 3 as one in format 4, with its cells' texts and settings; the rest is not read.

    nbformat's own conversion takes a thousand times the memory of a file that was made for it.
    """
    sheets = content.get("worksheets")
    parts = [_dict(sheet).get("cells") for sheet in sheets] if isinstance(sheets, list) else []
    cells = [_dict(cell) for part in parts if isinstance(part, list) for cell in part]
    return {**content, "nbformat": 4, "cells": [_upgraded_cell(cell) for cell in cells]}


def _upgraded_cell(cell: dict) -> dict:
    """A cell of format 3, in which code has another name, and headings are cells of their own."""
    kind = cell.get("cell_type")
    if kind == "code":
        return {**cell, "source": cell.get("input")}
    if kind == "heading":
        level = cell.get("level")
        hashes = "#" * level if isinstance(level, int) and 1 <= level <= 6 else "#"
        return {
            **cell,
            "cell_type": "markdown",
            "source": f"{hashes} {' '.join(_text(cell.get('source')).split())}",
        }
    return {**cell, "cell_type": "markdown"} if kind == "html" else cell


def _handed(cell: Any) -> HandedCell:
    """A cell read leniently: whatever has the wrong type is taken for absent."""
    cell = cell if isinstance(cell, dict) else {}
    metadata = _dict(cell.get("metadata"))
    nbgrader = _dict(metadata.get("nbgrader"))
    kind = cell.get("cell_type")
    tags = metadata.get("tags")
    return HandedCell(
        kind=kind if kind in ("code", "markdown", "raw") else "raw",
        source=_text(cell.get("source")),
        name=_str(nbgrader.get("grade_id")),
        cell_id=_str(cell.get("id")) or _str(metadata.get("id")),
        nbgrader=nbgrader,
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        attachments=_dict(cell.get("attachments")),
    )


def _dict(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    # a lone surrogate can be written in JSON but never encoded again
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
