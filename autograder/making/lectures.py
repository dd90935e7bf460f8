"""A lecture's outputs: made by running the notebook here, and small enough to be committed.

The answer to a prediction is folded, so that it is not read too early. On the site so is its code, if that
asserts what comes out, and code that only draws.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autograder.source.notebook import Cell

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_BYTES = 300_000
NOTEBOOK_BYTES = 2_000_000

PREDICTION = "**Predict"
DRAWS = re.compile(r"(?:(?:import|from) .*\n|\n)*\w[\w, ()]* = plt\.(?:subplots|figure)\(")
# a figure that adapts to its space when it is shown; the two names are pictures, which do not
LIVES = re.compile(r"\bfigures\.(?!(?:still|rungs)\b)\w+\(")
ASSERTS = re.compile(r"^\s*assert\b", re.MULTILINE)
# Tags that the site knows.
FOLDED_OUTPUT, FOLDED_SOURCE, FOLDED_CELL = "hide-output", "hide-input", "hide-cell"


class OutputTooLarge(ValueError):
    """The lecture's outputs are too large to be committed; the message names the cell."""


def answers(cells: Iterable[Cell]) -> Iterator[Cell]:
    """The cells whose outputs answer a prediction: from the text that asks for it to the next text.

    Interactive figures stay open.
    """
    asked = False
    for cell in cells:
        if cell.kind == "markdown":
            asked = PREDICTION in cell.source
        elif asked and not LIVES.search(cell.source):
            yield cell


def only_draws(cell: Cell) -> bool:
    """Whether a cell begins by creating a plot."""
    return cell.kind == "code" and bool(DRAWS.match(cell.source))


def folds(cell: Cell, *, is_answer: bool) -> list[str]:
    """The tags of what the site folds of a cell."""
    draws = only_draws(cell)
    if is_answer and not draws:
        return [FOLDED_CELL if ASSERTS.search(cell.source) else FOLDED_OUTPUT]
    return [FOLDED_SOURCE] * draws + [FOLDED_OUTPUT] * is_answer


def execute(built: Mapping, folder: Path, *, seconds: int = 600) -> dict:
    """The notebook with the outputs of a full run in a fresh kernel, started in the notebook's folder.

    Raises nbclient's CellExecutionError if a cell fails and OutputTooLarge if one shows too much.
    """
    import nbformat
    from nbclient import NotebookClient

    node = nbformat.from_dict(json.loads(json.dumps(built)))
    client = NotebookClient(
        node,
        timeout=seconds,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    executed = json.loads(json.dumps(client.execute()))
    return with_outputs(built, executed)


def with_outputs(built: Mapping, executed: Mapping) -> dict:
    """The built notebook with another's outputs, cell by cell; raises OutputTooLarge."""
    outputs = {cell["id"]: cell for cell in executed["cells"] if cell["cell_type"] == "code"}
    filled = {**built, "cells": [_fill(cell, outputs) for cell in built["cells"]]}
    _check_sizes(filled)
    return filled


def keep_outputs(built: Mapping, path: Path) -> dict:
    """The built notebook with the outputs of the one on disk, if both run the same code.

    Its figures get the modules that the course has today, and its machines are drawn as they are today.
    """
    try:
        existing = json.loads(path.read_text(encoding="utf-8"))
        return with_outputs(built, existing) if _code(existing) == _code(built) else dict(built)
    except (OSError, ValueError, KeyError):  # no notebook yet, or one that is broken
        return dict(built)


def _fill(cell: Mapping, outputs: Mapping[str, Mapping]) -> dict:
    if cell["cell_type"] != "code" or cell["id"] not in outputs:
        return dict(cell)
    from autograder.making.figure_outputs import (
        drawn_again,
        with_todays_caption,
        with_todays_modules,
    )  # brings matplotlib, unlike the rest

    done = outputs[cell["id"]]
    source = "".join(cell["source"])
    mended = [
        with_todays_caption(source, with_todays_modules(o)) for o in done["outputs"] if not _is_widget(o)
    ]
    kept = [drawn_again(source, each) for each in mended]
    return {**cell, "outputs": kept, "execution_count": done["execution_count"]}


def _is_widget(output: Mapping) -> bool:
    """Whether an output consists only of controls, which do not work without the kernel that made them."""
    return list(output.get("data", {})) == [WIDGET_VIEW]


def _code(content: Mapping) -> list[tuple[str, str]]:
    """The notebook's code, without the address in the set-up cell, which changes no result."""
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code" and cell["id"] != "setup"]
    return [(cell["id"], "".join(cell["source"])) for cell in code]


def _check_sizes(content: Mapping) -> None:
    for cell in content["cells"]:
        size = len(json.dumps(cell.get("outputs", [])))
        if size > CELL_BYTES:
            raise OutputTooLarge(f"the cell {cell['id']} shows {size:,} bytes; the limit is {CELL_BYTES:,}.")
    size = len(json.dumps(content))
    if size > NOTEBOOK_BYTES:
        raise OutputTooLarge(f"the notebook has {size:,} bytes; the limit is {NOTEBOOK_BYTES:,}.")
