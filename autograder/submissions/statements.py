"""The statements of a student's cells, and what each binds, reads, imports and copies."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from autograder.submissions import bindings
from autograder.submissions.copied import Definition, copied
from autograder.submissions.hidden_code import READING, RUNNING, hiding, timed
from autograder.submissions.inlined import inlined
from autograder.submissions.own_modules import imports
from course.checks.bound_to import FORMS
from course.checks.forbidden import parsed
from course.language import say

PARTS = re.compile("[.:]")  # `resolve_name("torch:topk")`
LONGEST_KEPT = 5_000  # characters
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
MOST_PAIRS = 5_000_000  # of a name that a statement binds and a place in it where one is looked up


@dataclass(frozen=True)
class Code:
    """A statement at the top level of a cell."""

    tree: ast.stmt

    @cached_property
    def binds(self) -> frozenset[str]:
        """The names that it binds for the whole notebook, without those of a star."""
        return bindings.bound(self.tree)

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """The modules of which it binds all names: `from module import *`."""
        imports = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)]
        return tuple(node.module or "" for node in imports if node.names[0].name == "*")

    @cached_property
    def changes(self) -> frozenset[str]:
        """The names of the notebook whose objects it changes."""
        names = bindings.changed(self.tree)
        return names & self.reads if names else names

    @cached_property
    def words(self) -> frozenset[str]:
        """All names, attributes and strings in it: it can refer to nothing else; "import" if it has one."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.alias):
                found |= {*node.name.split("."), "import"}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(PARTS.split(node.value[:200]))
                found |= {"py"} if ".py" in node.value else set()
        return frozenset(found)

    @cached_property
    def hides(self) -> tuple[tuple[int, str], ...]:
        """What can run code that is written elsewhere, by line."""
        return tuple(hiding(self.tree)) if self.words & (READING | RUNNING) else ()

    @cached_property
    def copies(self) -> tuple[Definition, ...]:
        """The course's own functions and classes of which it contains a copy, under any name."""
        return tuple(copied(self.tree))

    @cached_property
    def gives(self) -> frozenset[str]:
        """All names that it gives to what is not imported, also within its functions and classes."""
        nodes = list(ast.walk(self.tree))
        found = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        found |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        found |= {
            node.name for node in nodes if isinstance(node, SCOPES) and not isinstance(node, ast.Lambda)
        }
        return frozenset(found)

    @cached_property
    def given(self) -> Mapping[str, list[ast.AST | None]]:
        """What it gives to each name that it binds, see `bindings`."""
        return bindings.given(self.tree)

    @property
    def timed(self) -> frozenset[str]:
        """The names of the notebook that stand where code is timed."""
        return frozenset(timed(self.tree)) & self.reads

    @cached_property
    def imports(self) -> tuple[tuple[int, str, bool], ...]:
        """The modules that it imports, see `own_modules`."""
        return tuple(imports(self.tree))

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names of the notebook that it reads."""
        return bindings.read(self.tree)

    @cached_property
    def is_searchable(self) -> bool:
        """Whether it is short or simple enough for its names to be looked up in reasonable time."""
        kinds = Counter(map(type, ast.walk(self.tree)))
        bound = sum(kinds[form] for form in (ast.alias, *FORMS))
        return bound * (kinds[ast.Name] + kinds[ast.Attribute]) <= MOST_PAIRS

    @property
    def texts(self) -> Iterator[str]:
        """The texts in it that may name a file of Python's."""
        for node in ast.walk(self.tree) if "py" in self.words else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value

    def known(self, aliases: Mapping[str, str]) -> dict[str, str]:
        """The entries of `aliases` whose names occur in it, as names or attributes."""
        names = self.words.union(f".{name}" for name in self.words)
        return {name: aliases[name] for name in names & aliases.keys()}


class Statement(NamedTuple):
    """A statement of the student's, and where it is."""

    cell: str  # the exercise that it answers, or "" for a cell of the student's own
    number: int  # of the cell in the notebook
    code: Code

    @property
    def place(self) -> str:
        """Such as " of cell 7", to follow a line's number; "" in an answer."""
        return "" if self.cell else say(" of cell {number}", number=self.number)

    @property
    def where(self) -> str:
        """Such as "cell 7", within a sentence."""
        if self.cell:
            return say("the answer to {name}", name=self.cell)
        return say("cell {number}", number=self.number)

    def remarks(self, exercises: Collection[str]) -> Iterator[str]:
        """What in it may not be the student's own work, in a homework of these exercises."""
        yield from (
            say(
                "`{name}` in line {line}{place}, which can hide calls", name=name, line=line, place=self.place
            )
            for line, name in self.code.hides
        )
        yield from (
            say("a copy of the course's `{name}`{place}", name=one.name, place=self.place)
            for one in self.code.copies
            if one.is_long or one.answers(exercises)
        )


def codes(source: str) -> tuple[Code, ...] | None:
    """The statements of a cell, None if it cannot be read; a cell that many students share is read once."""
    return _read_once(source) if len(source) <= LONGEST_KEPT else read(source)


def read(source: str) -> tuple[Code, ...] | None:
    """The same, not kept."""
    tree = parsed(source)
    return None if tree is None else tuple(Code(inlined(statement, source)) for statement in tree.body)


_read_once = lru_cache(maxsize=1_000)(read)
