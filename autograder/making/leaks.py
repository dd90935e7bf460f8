"""Search a release for anything students must not have."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.catalogue import catalogue_files
from autograder.source.homework import CODE_STUB, TEXT_STUB, HomeworkSource, clear_solution

# A release consists of notebooks, tables, arrays and pictures. It has no source and no other text files.
RELEASED = (".ipynb", ".csv", ".npz", ".png")

SOLUTION = "the solution of"
HIDDEN = "the hidden check"
CATALOGUES = ("misconceptions", "alternatives")

# A shorter line may be part of a longer one by chance, so it counts only as a whole line.
LONG_ENOUGH_TO_SEARCH = 12

# A shorter line of a hidden check, such as `for length in lengths:`, may occur in other code too.
OF_ONE_CHECK = 30

# A shorter line of a solution, such as `B, T, D = x.shape`, may occur in a visible cell too.
TELLTALE = 20


def leaks(homework: HomeworkSource, folder: Path) -> Iterator[str]:
    """A sentence for every file that does not belong in the folder and every secret line found in one."""
    secrets = _secrets(homework)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if not path.name.endswith(RELEASED):
            yield f"{path.name} does not belong in a release."
        text = _Text(lines_of(path.read_bytes()))
        for line in sorted(secrets):
            if line in text:
                yield f'{path.name} holds a line of {secrets[line]}: "{line}"'


def _secrets(homework: HomeworkSource) -> dict[str, str]:
    """The secret lines that students do not see elsewhere; a telltale line of a solution is always secret."""
    visible = _Text(visible_lines(homework))
    return {
        line: origin
        for line, origin in secret_lines(homework)
        if line not in visible or (origin.startswith(SOLUTION) and len(line) >= TELLTALE)
    }


class _Text:
    """Lines in which a short secret counts only as a whole line, and a long one anywhere."""

    def __init__(self, lines: Iterable[str]) -> None:
        stripped = [line.strip() for line in lines]
        self._lines, self._whole = set(stripped), "\n".join(stripped)

    def __contains__(self, line: str) -> bool:
        return line in self._lines or (len(line) >= LONG_ENOUGH_TO_SEARCH and line in self._whole)


def secret_lines(homework: HomeworkSource) -> Iterator[tuple[str, str]]:
    """(line, origin) for everything that a student must not have."""
    for cell in homework.cells:
        if "hidden" in cell.labels:
            yield from _with_origin(cell.source, f"{HIDDEN} {cell.labels['check']}")
        for region in re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.DOTALL):
            name = cell.labels.get("solution") or cell.labels.get("written")
            yield from _with_origin(region, f"{SOLUTION} {name}")
    for kind in CATALOGUES:
        for path in catalogue_files(homework.folder, kind):
            origin = str(path.relative_to(homework.folder))
            yield from _with_origin(path.read_text(encoding="utf-8"), origin)


def lines_of_hidden_checks(homework: HomeworkSource) -> Iterator[tuple[str, str]]:
    """(line, origin) for every hidden check: only lines that other code does not contain by chance."""
    for line, origin in _secrets(homework).items():
        if origin.startswith(HIDDEN) and len(line) >= OF_ONE_CHECK:
            yield line, origin


def lines_of_answers(homework: HomeworkSource) -> dict[str, dict[str, str]]:
    """Kind of answer → line → origin: only lines that say something, and no diagnosis.

    The package publishes the diagnoses, and other code imports what answers import.
    """
    said = set(_docstrings(homework))
    found: dict[str, dict[str, str]] = {kind: {} for kind in (SOLUTION, *CATALOGUES)}
    for line, origin in _secrets(homework).items():
        telling = len(line) >= TELLTALE and not line.startswith(("import ", "from ", '"""'))
        for kind, lines in found.items():
            if telling and line not in said and origin.startswith(kind):
                lines[line] = origin
    return found


def _docstrings(homework: HomeworkSource) -> Iterator[str]:
    """The lines of every docstring in the catalogues of right and wrong answers."""
    for kind in CATALOGUES:
        for path in catalogue_files(homework.folder, kind):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                    yield from (ast.get_docstring(node) or "").splitlines()


def _with_origin(text: str, origin: str) -> Iterator[tuple[str, str]]:
    """The meaningful lines: a lone bracket is not a secret."""
    return ((line.strip(), origin) for line in text.splitlines() if re.search(r"\w", line))


def visible_lines(homework: HomeworkSource) -> Iterator[str]:
    """The text that students may see: everything but the secret regions."""
    for cell in homework.cells:
        if "hidden" not in cell.labels:
            stub = CODE_STUB if cell.kind == "code" else TEXT_STUB
            yield from clear_solution(cell.source, stub).splitlines()
    for check in homework.checks:
        yield check.claim


def lines_of(content: bytes) -> list[str]:
    """The lines of a file; for JSON, the lines of every string in it."""
    text = content.decode("utf-8", errors="replace")
    try:
        return [line for string in _strings(json.loads(text)) for line in string.splitlines()]
    except ValueError:
        return text.splitlines()


def _strings(value: object) -> Iterator[str]:
    """All strings in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from _strings(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _strings(entry)
