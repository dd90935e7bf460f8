"""The texts that students read: sentences in the code, paragraphs of notebooks, words of known mistakes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from babel.messages.extract import extract_from_file

from autograder.languages.outputs import PHRASES, WORD, said
from autograder.source.homework import Check, Exercise, HomeworkSource
from autograder.source.notebook import ALIVE
from course.language import paragraphs

# How sentences are written in the code and in figures, and where their templates stand among the arguments.
SAID = {"say": None, "say_count": (1, 2)}
WRITTEN: Mapping[str, tuple[str, Any]] = {
    ".py": ("python", SAID),
    ".j2": ("jinja2.ext:babel_extract", SAID),
    ".mjs": ("javascript", PHRASES),
    ".js": ("javascript", PHRASES),
}
ASSERTIONS = {"assert_true": 1}  # the place of the message; `what` is always given by its name

# What is the same in every language: formulas, code, markup, addresses.
FIXED = re.compile(r"\$\$.*?\$\$|\$[^$]+\$|```.*?```|`[^`]+`|<[^>]*>|\]\([^)]*\)|https?://\S+", re.DOTALL)
THE_SAME = ("badge", "setup")  # cells that the builder writes


@dataclass(frozen=True)
class Text:
    """A text to be translated, where it stands, and its form for many if it counts something."""

    english: str
    where: str
    many: str = ""
    is_template: bool = False  # whether places like {name} are filled in
    is_code: bool = False
    is_output: bool = False  # what a cell printed, with its numbers


def said_in(folders: Iterable[Path], root: Path) -> Iterator[Text]:
    """The sentences that Python files, templates of pages and modules of figures say."""
    for path in chain.from_iterable(sorted(folder.rglob("*")) for folder in folders):
        if path.suffix not in WRITTEN:
            continue
        method, functions = WRITTEN[path.suffix]
        for _, found, _, _ in extract_from_file(method, path, keywords=functions):
            one, many = found if isinstance(found, tuple) else (found, "")
            yield Text(one, path.relative_to(root).as_posix(), many, is_template=True)


def in_notebook(notebook: Mapping) -> Iterator[Text]:
    """The paragraphs of text cells, the cells of code that students may change, and what these show."""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["id"] in THE_SAME:
            continue
        if cell["cell_type"] == "markdown":
            yield from (Text(one, cell["id"]) for one in outside_solutions(source) if is_prose(one))
        elif is_free(cell):
            if has_words(source):
                yield Text(source, cell["id"], is_code=True)
            for text, is_printed in said(cell):
                yield Text(text, cell["id"], is_output=is_printed)


def is_free(cell: Mapping) -> bool:
    """Whether students may change all of a cell: in a lecture, or at a homework's living end."""
    return bool(cell["metadata"].get(ALIVE)) or "nbgrader" not in cell["metadata"]


def outside_solutions(source: str) -> Iterator[str]:
    """The paragraphs of a text cell, without those that only instructors see."""
    inside = False
    for paragraph in paragraphs(source):
        begins, ends = (f"### {word} SOLUTION" in paragraph for word in ("BEGIN", "END"))
        if not inside and not begins:
            yield paragraph
        inside = (inside or begins) and not ends


def is_prose(paragraph: str) -> bool:
    """Whether there is something to translate besides formulas, code and markup."""
    return WORD.search(FIXED.sub(" ", paragraph)) is not None


def has_words(code: str) -> bool:
    """Whether code has comments, or strings with words."""
    strings = (node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant))
    return "#" in code or any(isinstance(value, str) and WORD.search(value) for value in strings)


def of_homework(homework: HomeworkSource) -> Iterator[Text]:
    """What a homework says besides its notebook: its claims and its known mistakes."""
    for check in homework.checks:
        yield from of_check(check)
    for entry in homework.misconceptions:
        yield from (Text(said, entry.name) for said in (entry.diagnosis, entry.question) if said)


def of_check(check: Check) -> Iterator[Text]:
    """The claim of a check, and what it says when it fails."""
    yield Text(check.claim, check.name)
    for node in ast.walk(ast.parse(check.source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from _said_by(node, node.func.id, check.name)


def _said_by(call: ast.Call, function: str, where: str) -> Iterator[Text]:
    if function == "say":
        yield from (Text(said, where, is_template=True) for said in _constants(call.args[:1]))
        return
    given = [keyword.value for keyword in call.keywords if keyword.arg == "what"]
    if function in ASSERTIONS:
        given += call.args[ASSERTIONS[function] :]
    yield from (Text(said, where) for said in _constants(given))


def _constants(nodes: Iterable[ast.expr]) -> Iterator[str]:
    yield from (
        node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def known_to_students(homework: HomeworkSource, fingerprints: Mapping) -> set[str]:
    """The texts that the students' package may contain: nothing that only hidden checks show."""
    exercises: dict[str, Mapping] = fingerprints.get("exercises", {})
    found = {text.english for check in homework.checks if not check.hidden for text in of_check(check)}
    for exercise in homework.exercises:
        found |= _of_exercise(exercise, exercises.get(exercise.name, {}))
    return found


def _of_exercise(exercise: Exercise, about: Mapping) -> set[str]:
    mistakes: Iterable[Mapping[str, str]] = about.get("misconceptions", {}).values()
    said = {text for entry in mistakes for text in (entry["diagnosis"], entry["question"])}
    return said | {paragraph for hint in exercise.hints for paragraph in paragraphs(hint)}
