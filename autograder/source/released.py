"""The cells of a homework that nbgrader knows: what students got, and what the grader runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from autograder.source.homework import CODE_STUB, TEXT_STUB, claim_of, clear_solution
from autograder.source.notebook import ALIVE

Role = Literal["given", "answer", "check", "written", "alive", "own"]

_DEFINED = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)


class NotReleased(LookupError):
    """The homework in its present form was not released; the message says which command to run."""


@dataclass(frozen=True)
class EarlierCell:
    """A cell in an earlier release: a digest of its text, its kind and its settings."""

    text: str
    kind: str
    nbgrader: Mapping[str, Any]


@dataclass(frozen=True)
class SourceCell:
    """A cell that nbgrader knows: `released` as students got it, `source` as the grader runs it."""

    name: str
    role: Role
    kind: str
    released: str
    source: str
    nbgrader: Mapping[str, Any]
    cell_id: str = ""
    earlier: tuple[EarlierCell | None, ...] = ()  # what it was in releases before; None: it was not there

    @property
    def defines(self) -> tuple[str, ...]:
        """The functions and classes that an answer cell asks for."""
        return defined_names(self.released) if self.role == "answer" else ()

    @cached_property
    def claims(self) -> Mapping[str, str]:
        """The functions of a check cell that make a claim: name → the claim."""
        return _claims(self.source) if self.role == "check" and self.kind == "code" else {}


def _claims(source: str) -> dict[str, str]:
    """The sentence of each documented function; an ordinary notebook may contain invalid Python."""
    try:
        functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        return {}
    return {function.name: said for function in functions if (said := claim_of(function))}


def defined_names(source: str) -> tuple[str, ...]:
    """The functions and classes that a text defines at top level, whether or not it can be parsed."""
    return tuple(_DEFINED.findall(source))


def source_cells(notebook: Mapping, text_stub: str = TEXT_STUB) -> tuple[SourceCell, ...]:
    """The cells of the instructor's notebook that have an nbgrader id, in order.

    text_stub: what stands in the notebook's language where an answer in words is expected.
    """
    marked = (cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id"))
    return tuple(_source_cell(cell, text_stub) for cell in marked)


def released_texts(notebook: Mapping, text_stub: str = TEXT_STUB) -> frozenset[str]:
    """All text cells as students got them, to tell our own markup from theirs."""
    texts = {"".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"}
    return frozenset(texts | {cell.released for cell in source_cells(notebook, text_stub)})


def _source_cell(cell: Mapping, text_stub: str) -> SourceCell:
    nbgrader = cell["metadata"]["nbgrader"]
    role: Role = "alive" if cell["metadata"].get(ALIVE) else _role(nbgrader)
    full = "".join(cell["source"])
    stub = CODE_STUB if cell["cell_type"] == "code" else text_stub
    released = _cleared(full, stub) if nbgrader.get("solution") else without_hidden_checks(full)
    source = released if nbgrader.get("solution") else full
    return SourceCell(
        nbgrader["grade_id"], role, cell["cell_type"], released, source, nbgrader, cell.get("id", "")
    )


def _cleared(source: str, stub: str) -> str:
    """The text as nbgrader clears it: a solution without a region is removed, unless it is clear already."""
    is_marked = "### BEGIN SOLUTION" in source or stub.splitlines()[0] in source
    return clear_solution(source, stub) if is_marked else stub


def _role(nbgrader: Mapping) -> Role:
    if nbgrader.get("solution"):
        return "written" if nbgrader.get("grade") else "answer"
    return "check" if nbgrader.get("grade") else "given"


def without_hidden_checks(source: str) -> str:
    """The text without everything between ### BEGIN HIDDEN TESTS and ### END HIDDEN TESTS."""
    return "\n".join(_outside(source, "HIDDEN TESTS"))


def _outside(source: str, region: str) -> Iterator[str]:
    inside = False
    for line in source.split("\n"):
        inside = inside or f"BEGIN {region}" in line
        if not inside:
            yield line
        inside = inside and f"END {region}" not in line
