"""Notebooks as students hand them in, made from a homework's own catalogue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from autograder.source.homework import HomeworkSource, without_markers
from autograder.source.notebook import to_json
from autograder.source.released import source_cells


def released(notebook: Mapping) -> dict:
    """The instructor's notebook as students get it: without solutions and hidden checks."""
    texts = {cell.name: cell.released for cell in source_cells(notebook)}
    copy = json.loads(json.dumps(notebook))
    for cell in copy["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = texts.get(name, cell["source"])
    return copy


def answered(notebook: Mapping, answers: Mapping[str, str]) -> dict:
    """The notebook with the answer cells of these names filled in."""
    copy = json.loads(json.dumps(notebook))
    for cell in copy["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = answers.get(name, cell["source"])
    return copy


def reference_answers(homework: HomeworkSource) -> dict[str, str]:
    """The reference solution of every exercise, as a student would have typed it."""
    return {exercise.name: without_markers(exercise.solution) for exercise in homework.exercises}


def hand_in(folder: Path, student: str, homework: str, content: Mapping | str | bytes) -> Path:
    """Write a notebook, or whatever else a student hands in, to the path that nbgrader's collect uses."""
    path = folder / student / homework / f"{homework}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str | bytes) else to_json(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
