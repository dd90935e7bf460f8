"""Recognise functions and classes of the course's own package by structure, under any name.

A long one is recognised whatever its variables are called. A short one of several lines is recognised only as
it stands in the course, and only if it answers an exercise. One that is a single line is not recognised:
there is often but one way to write it.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from autograder.submissions.starred import files_of_the_course
from course.checks.forbidden import NEVER

FEWEST_NODES = 150  # of a syntax tree, about ten lines: what is shorter two people write alike
FEWEST_WITH_NAMES = 30  # without annotations: about three lines
MOST_NODES = 5_000  # several times as many as the longest of the course has
DEEPEST = 3  # functions and classes around one that is compared
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # of a statement, which hold statements
READY = "course.mine.ready."
Outline = tuple[type[ast.AST], ...]


def copied(tree: ast.AST) -> Iterator[Definition]:
    """The course's functions and classes that a tree holds under any name."""
    for node in definitions(tree):
        alike = of_the_course().get(outline(node), ())
        if not alike or size(node) > MOST_NODES:
            continue
        if size(node) >= FEWEST_NODES:
            own = structure(node)
            yield from (one for one in alike if one.is_long and one.structure == own)
        elif own := text(node):
            yield from (one for one in alike if one.text == own)


@dataclass(frozen=True)
class Definition:
    """A function or class of the course."""

    name: str  # with its module
    tree: ast.FunctionDef | ast.ClassDef
    is_outermost: bool  # in its module, and no method

    @cached_property
    def is_long(self) -> bool:
        return size(self.tree) >= FEWEST_NODES

    @cached_property
    def structure(self) -> str:
        return structure(self.tree)

    @cached_property
    def text(self) -> str:
        return text(self.tree)

    def answers(self, exercises: Collection[str]) -> bool:
        """Whether a short one is an answer to some exercise, or a ready-made part."""
        is_ready = self.is_outermost and self.name.startswith(READY)
        return is_ready or self.name.rpartition(".")[2] in exercises


def definitions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes in a tree, except those nested so deeply that a search takes too long."""
    todo = [(tree, 0)]
    while todo:
        node, depth = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            depth += 1
            yield node
        if depth <= DEEPEST:
            blocks = (getattr(node, block, ()) for block in BLOCKS)
            todo += ((child, depth) for block in blocks for child in block)


@cache
def of_the_course() -> Mapping[Outline, Sequence[Definition]]:
    """Outline → the definitions that have it, of all that is forbidden."""
    found: dict[Outline, list[Definition]] = defaultdict(list)
    for module, path in files_of_the_course().items():
        if not module.startswith(NEVER):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in definitions(tree):
                found[outline(node)].append(Definition(f"{module}.{node.name}", node, node in tree.body))
    return found


def outline(tree: ast.FunctionDef | ast.ClassDef) -> Outline:
    """The kinds of its statements; what differs in them need not be compared any further."""
    return tuple(type(statement) for statement in (tree, *without_docstring(tree)))


def without_docstring(tree: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    return tree.body[1:] if ast.get_docstring(tree, clean=False) is not None else tree.body


def size(tree: ast.AST) -> int:
    """How many nodes a tree has."""
    return sum(1 for _ in ast.walk(tree))


def text(tree: ast.FunctionDef | ast.ClassDef) -> str:
    """The tree without its own name, annotations and docstrings; "" if it is hardly more than a line.

    Otherwise two people are unlikely to write it alike, down to the names of variables.
    """
    try:
        bare = _Bare().visit(copy.deepcopy(tree))
        nodes = list(ast.walk(bare))
        is_short = len(nodes) < FEWEST_WITH_NAMES or sum(isinstance(node, ast.stmt) for node in nodes) <= 2
        return "" if is_short else ast.dump(bare)
    except RecursionError:
        return ""


def structure(tree: ast.FunctionDef | ast.ClassDef) -> str:
    """The tree as a text in which names are numbered, and annotations and docstrings left out."""
    try:
        return ast.dump(_Numbered().visit(copy.deepcopy(tree)))
    except RecursionError:
        return ""


class _Bare(ast.NodeTransformer):
    """Leaves out annotations, docstrings, decorators and what a function or class is called."""

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns, node.decorator_list = "", None, []
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name, node.decorator_list = "", []
        return self._without_docstring(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def _without_docstring(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        node.body = without_docstring(node)
        return self.generic_visit(node)


class _Numbered(_Bare):
    """Gives names numbers in the order in which they appear."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}

    def number(self, name: str) -> str:
        return self.numbers.setdefault(name, str(len(self.numbers)))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.number(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self.number(node.arg))
