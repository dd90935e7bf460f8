"""A homework's notebook on the site: checks are folded, and given cells show what they print."""

from __future__ import annotations

import ast
import binascii
import builtins
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from typing import Any

from autograder.languages.texts import FIXED
from autograder.reporting.prose import prose

# d_k outside code, formulas, addresses and headings, whose places are named by their words.
LETTER = re.compile(
    rf"(?P<kept>{FIXED.pattern}|^#.*?$)|(?<!\w)(?P<letter>[A-Za-z])_(?P<index>[a-z])(?!\w)", re.S | re.M
)
TITLED = re.compile(r"# @title (?P<title>.*)\n?")
CHECKED = re.compile(r"^(Checks of )(\w+)")  # an answer, by its name
HEADING = re.compile(r"^#+ +(?:(?P<number>\d+)[.:]? +)?(?P<words>.+)$", re.MULTILINE)


def as_a_page(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """The notebook with its given cells' outputs, and with Colab's titles as what unfolds their code."""
    cells = _with_outputs(notebook["cells"])
    return {
        **notebook,
        "cells": [_text(cell) if cell["cell_type"] == "markdown" else _folded(cell) for cell in cells],
    }


def number_of(statement: str) -> str:
    """`### 3. Attention weights` → `3`; "" if the first heading has no number."""
    found = HEADING.search(statement)
    return (found and found["number"]) or ""


def anchor(statement: str) -> str:
    """The place of the first heading on the page: `### 3. Attention weights` → `3-attention-weights`."""
    from myst_parser.slugs import github_slugify  # which is installed where the site is built

    found = HEADING.search(statement)
    return github_slugify(found[0].lstrip("#").strip()) if found else ""


def _text(cell: dict[str, Any]) -> dict[str, Any]:
    def lowered(found: re.Match[str]) -> str:
        return found["kept"] or f"{found['letter']}<sub>{found['index']}</sub>"

    return {**cell, "source": LETTER.sub(lowered, "".join(cell["source"]))}


def _folded(cell: dict[str, Any]) -> dict[str, Any]:
    source = "".join(cell["source"])
    titled = TITLED.match(source)
    if titled is None:
        return cell
    name, code = prose(CHECKED.sub(r"\1`\2`", titled["title"])), source[titled.end() :].strip()
    text = (
        f"<details><summary>{name}</summary>\n\n````python\n{code}\n````\n\n</details>"
        if code
        else f"*{name}*"
    )
    return {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": text}


def _with_outputs(cells: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Run the given cells that use only names of given cells, and so need nobody's answers.

    One that does not run here, where its data may be missing, shows nothing, nor does what builds on it.
    """
    scope: dict[str, Any] = {"__name__": "__main__"}
    known = set(dir(builtins))
    for cell in cells:
        program = _given(cell)
        if program is None or not _used(program) <= known | _bound(program):
            yield cell
            continue
        try:
            outputs = _run(program, scope)
        except Exception:
            yield cell
        else:
            yield {**cell, "outputs": outputs}
            known |= _bound(program)


def _given(cell: Mapping[str, Any]) -> ast.Module | None:
    """The program of a cell that is given as it is; None for an answer, a check and an empty cell."""
    marks = cell["metadata"].get("nbgrader", {})
    if cell["cell_type"] != "code" or marks.get("solution") or marks.get("grade"):
        return None
    try:
        program = ast.parse("".join(cell["source"]))
    except SyntaxError:  # a command of the notebook, such as %timeit
        return None
    return program if program.body else None


def _used(program: ast.Module) -> set[str]:
    return {
        node.id for node in ast.walk(program) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _bound(program: ast.Module) -> set[str]:
    """All names that a program gives to anything: variables, parameters, functions, classes, modules."""
    names: set[str] = set()
    for node in ast.walk(program):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
    return names


def _run(program: ast.Module, scope: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and then its last value as a notebook shows it."""
    from IPython.core.formatters import DisplayFormatter

    from course.figures import still
    from course.plots import Picture

    *statements, last = program.body
    with redirect_stdout(io.StringIO()) as printed:
        value = None
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(statements, []), "<given>", "exec"), scope)
            value = eval(compile(ast.Expression(last.value), "<given>", "eval"), scope)
        else:
            exec(compile(program, "<given>", "exec"), scope)
    text = printed.getvalue()
    outputs: list[dict[str, Any]] = []
    if text:
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if isinstance(value, Picture):
        value = still(value, value.alt_text)  # whose shades stay as they are on a dark page
    if value is not None:
        data, metadata = DisplayFormatter().format(value)
        data = {kind: _as_json(each) for kind, each in data.items()}
        shown = {"output_type": "execute_result", "execution_count": None, "data": data, "metadata": metadata}
        outputs.append(shown)
    return outputs


def _as_json(shown: Any) -> Any:
    """A picture's bytes as a notebook keeps them; everything else as it is."""
    return binascii.b2a_base64(shown, newline=False).decode() if isinstance(shown, bytes) else shown
