"""Write a right or wrong solution of the catalogue as a student would have handed it in."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.catalogue import Alternative, CatalogueError, Misconception
from autograder.source.homework import HomeworkSource, defined, without_markers
from autograder.source.packages import imported_file

Entry = Misconception | Alternative


def as_answer(entry: Entry, homework: HomeworkSource) -> str:
    """The text of an answer cell: renamed, without its docstring, and with everything it needs.

    What is imported from another file of the catalogue is written out. What is imported from the notebook is
    there already, except what the answer's own cell defines: then the reference is written out under the name
    that it is imported as. Raises CatalogueError if that name is the exercise's own.
    """
    file = sys.modules[entry.thing.__module__].__file__
    assert file is not None  # entries are collected from files
    parts = _written_out(Path(file), {entry.name}, entry, homework)
    return re.sub(rf"\b{entry.name}\b", entry.of, "\n\n".join(dict.fromkeys(parts)))


def _written_out(path: Path, names: set[str], entry: Entry, homework: HomeworkSource) -> Iterator[str]:
    """The statements of a file that define these names, and what those need."""
    text = path.read_text(encoding="utf-8")
    for statement, chosen in _defining(names, text):
        if isinstance(statement, ast.ImportFrom) and statement.level:
            taken = [alias for alias in statement.names if (alias.asname or alias.name) in chosen]
            yield from _imported(imported_file(path, statement), taken, entry, homework)
        elif not _is_catalogue(statement):
            yield _code(statement, text)


def _imported(
    path: Path | None, taken: list[ast.alias], entry: Entry, homework: HomeworkSource
) -> Iterator[str]:
    solution = without_markers(homework.exercise(entry.of).solution)
    own = [alias for alias in taken if path is None and alias.name in defined(solution)]
    if path is not None:
        yield from _written_out(path, {alias.name for alias in taken}, entry, homework)
    elif own:
        yield from _reference(solution, own, entry)
    for alias in taken:
        if alias.asname and not (path is None and alias.name == entry.of):
            yield f"{alias.asname} = {alias.name}"


def _reference(solution: str, own: list[ast.alias], entry: Entry) -> Iterator[str]:
    """What the reference's cell defines and the answer's cell will not define."""
    other_name = next((alias.asname for alias in own if alias.name == entry.of), None)
    for statement, _ in _defining({alias.name for alias in own}, solution):
        text = _code(statement, solution)
        if other_name is None and entry.of in _bound(statement):
            raise CatalogueError(
                f"{entry.name} takes the place of {entry.of} in the notebook: import it as another name."
            )
        yield re.sub(rf"\b{entry.of}\b", other_name or entry.of, text)


def _defining(names: set[str], text: str) -> Iterator[tuple[ast.stmt, set[str]]]:
    """The statements that define these names and what those need, each with all names that are needed."""
    statements = ast.parse(text).body
    chosen = names | _needed(names, statements)
    return ((one, chosen) for one in statements if not chosen.isdisjoint(_bound(one)))


def _needed(names: Iterable[str], statements: Iterable[ast.stmt]) -> set[str]:
    """The names of the file that these definitions use, directly or indirectly."""
    by_name = {bound: statement for statement in statements for bound in _bound(statement)}
    needed: set[str] = set()
    waiting = [*names]
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
    """The decorators of a definition, such as `@torch.no_grad()`, except those of the catalogue."""
    entries = {"misconception", "alternative", "not_code"}
    return [
        node
        for node in getattr(statement, "decorator_list", [])
        if entries.isdisjoint(name.id for name in ast.walk(node) if isinstance(name, ast.Name))
    ]


def _documented(statement: ast.stmt) -> list[ast.stmt]:
    """The body of a definition that begins with a docstring; [] for anything else."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(statement) is not None:
        return statement.body
    return []
