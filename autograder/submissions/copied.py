"""Recognise functions and classes of the course's own package by structure, under any name.

A long one is recognised whatever its variables are called. A short one of several lines is recognised only as
it stands in the course, and only if it answers an exercise. One that is a single line is not recognised:
there is often but one way to write it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
LEFT_OUT: Mapping[type, Collection[str]] = {  # besides docstrings and what annotates an argument
    ast.FunctionDef: ("name", "returns", "decorator_list"),
    ast.ClassDef: ("name", "decorator_list"),
    ast.AnnAssign: ("annotation",),
}
Outline = tuple[type[ast.AST], ...]
Written = tuple[type | str | int, ...]  # a tree from its root on


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
    def structure(self) -> Written:
        return structure(self.tree)

    @cached_property
    def text(self) -> Written:
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


def text(tree: ast.FunctionDef | ast.ClassDef) -> Written:
    """The tree without its own name, annotations and docstrings; () if it is hardly more than a line.

    Otherwise two people are unlikely to write it alike, down to the names of variables.
    """
    written = _written(tree, str)
    kinds = [entry for entry in written if isinstance(entry, type)]
    is_short = len(kinds) < FEWEST_WITH_NAMES or sum(issubclass(kind, ast.stmt) for kind in kinds) <= 2
    return () if is_short else written


def structure(tree: ast.FunctionDef | ast.ClassDef) -> Written:
    """The tree with names numbered in the order in which they appear, without annotations and docstrings."""
    numbers: dict[str, int] = defaultdict(lambda: len(numbers))
    return _written(tree, numbers.__getitem__)


def _written(tree: ast.FunctionDef | ast.ClassDef, name: Callable[[str], str | int]) -> Written:
    """Each node's kind, followed by its fields; () if it is nested too deeply."""
    written: list[type | str | int] = []

    def write(entry: object) -> None:
        if isinstance(entry, list):
            written.append(len(entry))
            for each in entry:
                write(each)
        elif not isinstance(entry, ast.AST):
            written.append(repr(entry))
        elif isinstance(entry, ast.Name | ast.arg):
            written.extend((type(entry), name(entry.id if isinstance(entry, ast.Name) else entry.arg)))
        else:
            kind = type(entry)
            written.append(kind)
            for field in kind._fields:
                if field == "body" and isinstance(entry, ast.FunctionDef | ast.ClassDef):
                    write(without_docstring(entry))
                elif field not in LEFT_OUT.get(kind, ()):
                    write(getattr(entry, field, None))

    try:
        write(tree)
    except RecursionError:
        return ()
    return tuple(written)
