"""Notebooks as students hand them in, made from a homework's own catalogue."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.catalogue import Alternative, Misconception
from autograder.source.homework import HomeworkSource
from autograder.source.notebook import to_json
from autograder.source.released import source_cells


def released(notebook: Mapping) -> dict:
    """What students get of the instructor's notebook: no solution, no hidden check."""
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


def without_markers(source: str) -> str:
    kept = (line for line in source.splitlines() if not re.match(r"\s*### (BEGIN|END) SOLUTION", line))
    return "\n".join(kept)


def as_answer(entry: Misconception | Alternative) -> str:
    """A catalogue entry as the text of an answer cell: renamed, with what it needs, undocumented."""
    module = sys.modules[entry.thing.__module__]
    text = inspect.getsource(module)
    statements = ast.parse(text).body
    chosen = {entry.name, *_needed(entry.name, statements)}
    parts = [
        _code(statement, text)
        for statement in statements
        if not chosen.isdisjoint(_bound(statement)) and not _is_catalogue(statement)
    ]
    return re.sub(rf"\b{entry.name}\b", entry.of, "\n\n".join(parts))


def _needed(name: str, statements: Iterable[ast.stmt]) -> set[str]:
    """The names of the module that a definition uses, directly or through others."""
    by_name = {bound: statement for statement in statements for bound in _bound(statement)}
    needed: set[str] = set()
    waiting = [name]
    while waiting:
        used = {node.id for node in ast.walk(by_name[waiting.pop()]) if isinstance(node, ast.Name)}
        fresh = (used & by_name.keys()) - needed
        needed |= fresh
        waiting += fresh
    return needed


def _bound(statement: ast.stmt) -> set[str]:
    """The names a top-level statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return set()


def _is_catalogue(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "autograder.catalogue"


def _code(statement: ast.stmt, text: str) -> str:
    """The statement's own lines, without the catalogue's decorators and without its docstring."""
    lines = text.splitlines()
    first, last = statement.lineno - 1, statement.end_lineno
    decorators = [
        line for node in _decorators(statement) for line in lines[node.lineno - 1 : node.end_lineno]
    ]
    body = _documented(statement)
    if len(body) < 2:
        return "\n".join([*decorators, *lines[first:last]])
    docstring = body[0]
    rest = lines[docstring.end_lineno : last]
    while rest and not rest[0].strip():
        rest.pop(0)
    return "\n".join([*decorators, *lines[first : docstring.lineno - 1], *rest])


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    """What a definition is decorated with besides its entry in the catalogue, as with `@torch.no_grad()`."""
    entries = {"misconception", "alternative", "not_code"}
    return [
        node
        for node in getattr(statement, "decorator_list", [])
        if entries.isdisjoint(name.id for name in ast.walk(node) if isinstance(name, ast.Name))
    ]


def _documented(statement: ast.stmt) -> list[ast.stmt]:
    """The statements of a definition that begins with a docstring; none of anything else."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(statement) is not None:
        return statement.body
    return []


def hand_in(folder: Path, student: str, homework: str, content: Mapping | str | bytes) -> Path:
    """Put a notebook, or whatever else a student hands in, where nbgrader's collect would put it."""
    path = folder / student / homework / f"{homework}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str | bytes) else to_json(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
