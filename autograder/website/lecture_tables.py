"""What lectures say in tables of symbols and in recaps, read from their notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CELL = re.compile(r"(?<!\\)\|")
ITEM = re.compile(r"^- (.+)", re.M)


@dataclass(frozen=True)
class Symbol:
    """A row of a lecture's table of symbols, as it is written there; `shape` is "" if there is none."""

    written: str
    meaning: str
    shape: str
    lecture: str


def texts(path: Path) -> Iterator[str]:
    """The Markdown cells of a notebook."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            yield "".join(cell["source"])


def symbols(path: Path) -> Iterator[Symbol]:
    """Every row of every table of a lecture whose header begins with `symbol` and `meaning`."""
    for text in texts(path):
        header: list[str] = []
        for line in text.splitlines():
            if not line.startswith("|"):
                header = []
            elif not header:
                header = _row(line)
            elif header[:2] == ["symbol", "meaning"] and not set(line) <= set("|-: "):
                row = dict(zip(header, _row(line), strict=False))
                yield Symbol(row["symbol"], row["meaning"], row.get("shape", ""), path.stem)


def _row(line: str) -> list[str]:
    return [cell.strip() for cell in CELL.split(line.strip().removeprefix("|").removesuffix("|"))]


def recap(path: Path) -> list[str]:
    """The sentences of a lecture's recap, in Markdown. Raises ValueError if it has none."""
    text = "\n\n".join(texts(path))
    _, heading, rest = text.partition("\n## Recap\n")
    if not heading:
        raise ValueError(f"{path}: expected a section “Recap”")
    return ITEM.findall(rest.split("\n## ")[0])
