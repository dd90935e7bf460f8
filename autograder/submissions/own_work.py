"""Whether the student wrote an exercise, as far as the text of a submission can show.

All of the student's cells are read, and names are followed through them: a forbidden name counts as used even
if the answer reaches it through a helper in another cell, or under another name. A student determined to hide
a call can do so: this is a reminder, and shows a person where to look.
"""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from symtable import symtable
from typing import NamedTuple

from autograder.source.homework import Exercise
from autograder.submissions.copied import copied
from autograder.submissions.repair import Repaired
from course.checks.forbidden import LONGEST_SOURCE, Names, Rule, parsed, uses_in
from course.language import say

MOST_SEARCHED = 2 * LONGEST_SOURCE  # characters of one submission
LONGEST_KEPT = 5_000  # characters
RUNNING = frozenset({"exec", "eval"})  # as names; a module has a method `eval`
READING = frozenset({"getsource", "getsourcelines", "__file__", "__wrapped__", "run_path"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef)
MOST_PAIRS = 5_000_000  # of a name that a statement binds and a place in it where one is looked up
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Code:
    """A statement at the top level of a cell."""

    tree: ast.stmt

    @cached_property
    def binds(self) -> frozenset[str]:
        """The names that it binds for the whole notebook."""
        return frozenset(_bound(self.tree))

    @cached_property
    def words(self) -> frozenset[str]:
        """All names, attributes and strings in it: it can refer to nothing else."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.alias):
                found |= {*node.name.split("."), "*"} if node.name == "*" else set(node.name.split("."))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(node.value[:200].split("."))
        return frozenset(found)

    @cached_property
    def hides(self) -> tuple[tuple[int, str], ...]:
        """What can run code that is written elsewhere, by line."""
        return tuple(hiding(self.tree)) if self.words & (READING | RUNNING) else ()

    @cached_property
    def copies(self) -> tuple[str, ...]:
        """The course's own functions and classes of which it contains a copy, under any name."""
        return tuple(copied(self.tree))

    @cached_property
    def reads(self) -> frozenset[str]:
        """The global names that it reads, told apart from a function's local ones as Python does."""
        try:
            scopes = [symtable(ast.unparse(self.tree), "cell", "exec")]
        except (SyntaxError, RecursionError):  # such as a `return` in no function: it is followed everywhere
            return frozenset(node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name))
        found: set[str] = set()
        while scopes:
            scope = scopes.pop()
            is_outermost = scope.get_type() == "module"
            symbols = (symbol for symbol in scope.get_symbols() if symbol.is_referenced())
            found |= {symbol.get_name() for symbol in symbols if is_outermost or symbol.is_global()}
            scopes += scope.get_children()
        return frozenset(found)

    @cached_property
    def is_searchable(self) -> bool:
        """Whether it is short or simple enough for its names to be looked up in reasonable time."""
        kinds = Counter(map(type, ast.walk(self.tree)))
        bound = kinds[ast.alias] + kinds[ast.Assign]
        return bound * (kinds[ast.Name] + kinds[ast.Attribute]) <= MOST_PAIRS

    def known(self, aliases: Mapping[str, str]) -> dict[str, str]:
        """The entries of `aliases` whose names occur in it."""
        return {name: aliases[name] for name in self.words & aliases.keys()}


class Statement(NamedTuple):
    """A statement of the student's, and where it is."""

    cell: str  # the exercise that it answers, or "" for a cell of the student's own
    number: int  # of the cell in the notebook; 0 for an answer
    code: Code

    @property
    def place(self) -> str:
        """Such as " of cell 7", to follow a line's number; "" in an answer."""
        return say(" of cell {number}", number=self.number) if self.number else ""

    def remarks(self) -> Iterator[str]:
        """What in it may not be the student's own work."""
        yield from (
            say(
                "`{name}` in line {line}{place}, which can hide calls", name=name, line=line, place=self.place
            )
            for line, name in self.code.hides
        )
        yield from (
            say("a copy of the course's `{name}`{place}", name=name, place=self.place)
            for name in self.code.copies
        )


@dataclass
class OwnWork:
    """The code of one submission, and what it shows about each exercise."""

    submission: Repaired
    exercises: Sequence[Exercise]
    unread: list[str] = field(default_factory=list)  # answers longer than anybody writes
    told: dict[Rule, set[str]] = field(default_factory=dict, init=False)  # the words that tell, by rule

    def __post_init__(self) -> None:
        answers = {exercise.name for exercise in self.exercises}
        cells = [(place, cell) for place, cell in enumerate(self.submission.cells) if cell.kind == "code"]
        left, texts = MOST_SEARCHED, {}
        for place, cell in sorted(cells, key=lambda entry: entry[1].role != "answer"):
            if cell.role in ("answer", "own"):
                left -= len(cell.source)
                texts[place] = codes(cell.source) if left >= 0 else ()
                is_too_long = left < 0 or len(cell.source) > LONGEST_SOURCE
                if is_too_long and cell.of and cell.of.name in answers:
                    self.unread.append(cell.of.name)
        self.is_searched = left >= 0
        self.statements = [
            Statement(cell.of.name, 0, code) if cell.of else Statement("", place + 1, code)
            for place, cell in cells
            for code in texts.get(place, ())
        ]

    @cached_property
    def binders(self) -> Mapping[str, list[Statement]]:
        """Name → the statements that bind it, in the order of the notebook."""
        found: dict[str, list[Statement]] = {}
        for statement in self.statements:
            for name in statement.code.binds:
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """What the cells' top-level names refer to: "" is code of the notebook. The last binding counts."""
        aliases: dict[str, str] = {}
        for cell in self.submission.cells:
            if cell.kind == "code" and cell.role == "given":
                aliases |= _given(cell.source)
        for statement in self.statements:
            code = statement.code
            if code.binds:
                means = _imports(code.tree, code.known(aliases)) if code.is_searchable else {}
                aliases |= {name: means.get(name, "") for name in code.binds}
        return aliases

    def uses(self, exercise: Exercise) -> list[str]:
        """A sentence for each forbidden name that the answer uses, wherever its code is."""
        if exercise.name in self.unread:
            return [say("`{name}` is too long to be searched.", name=exercise.name)]
        rule = Rule.of(exercise.forbids, exercise.allows)
        found = []
        path = self.aliases.get(exercise.name, "")
        if path and rule.breaks(path):
            found.append(say("`{name}` is `{path}`.", name=exercise.name, path=path))
        telling = self.telling(rule)
        for statement in self.reached(exercise.name):
            code = statement.code
            if not code.is_searchable:
                found.append(
                    say(
                        "`{name}` depends on too many names to be searched{place}.",
                        name=exercise.name,
                        place=statement.place,
                    )
                )
            elif code.words & telling:
                found += [
                    say(
                        "`{name}` uses `{used}` in line {line}{place}.",
                        name=exercise.name,
                        used=use.name,
                        line=use.line,
                        place=statement.place,
                    )
                    for use in uses_in(ast.Module([code.tree], []), rule, code.known(self.aliases))
                ]
        return list(dict.fromkeys(found))

    def telling(self, rule: Rule) -> set[str]:
        """The words without which code uses nothing that a rule forbids."""
        if rule not in self.told:
            names = {name for name, path in self.aliases.items() if rule.breaks(path)}
            self.told[rule] = names | {name.rpartition(".")[2] for name in rule.forbids} | {"*"}
        return self.told[rule]

    def reached(self, exercise: str) -> Iterator[Statement]:
        """The statements of an answer and those it depends on, without the other exercises' functions."""
        known = {entry.name for entry in self.exercises}  # names that lead no further
        todo = deque(
            entry for entry in self.statements if entry.cell == exercise or exercise in entry.code.binds
        )
        seen = set(map(id, todo))
        while todo:
            statement = todo.popleft()
            yield statement
            names = statement.code.reads - known
            known |= names
            for name in sorted(names):
                new = [entry for entry in self.binders.get(name, ()) if id(entry) not in seen]
                seen |= set(map(id, new))
                todo += new

    def parts(self, exercise: str) -> list[str]:
        """The other exercises whose functions and classes the answer uses, in the order of the notebook."""
        reads = {name for statement in self.reached(exercise) for name in statement.code.reads}
        return [other.name for other in self.exercises if other.name != exercise and other.name in reads]

    def remarks(self, exercise: str) -> Iterator[str]:
        """Sentences for a person about what may not be the student's own work, whatever names it uses."""
        yield from self.bound_elsewhere(exercise)
        for statement in self.reached(exercise):
            yield from (
                say("`{name}` depends on {remark}.", name=exercise, remark=remark)
                for remark in statement.remarks()
            )

    def bound_elsewhere(self, exercise: str) -> Iterator[str]:
        """A sentence if a cell other than its answer binds an exercise's name."""
        places = [entry for entry in self.binders.get(exercise, ()) if entry.cell != exercise]
        if places:
            last = places[-1]
            answer = say("the answer to {name}", name=last.cell)
            yield say(
                "`{name}` is bound in {where} (line {line}), not only in its own cell; "
                "the checks saw what was bound last.",
                name=exercise,
                where=say("cell {number}", number=last.number) if last.number else answer,
                line=last.code.tree.lineno,
            )


def codes(source: str) -> tuple[Code, ...]:
    """The statements of a cell; a cell that many students share is read once."""
    return _read_once(source) if len(source) <= LONGEST_KEPT else _read(source)


def _read(source: str) -> tuple[Code, ...]:
    tree = parsed(source)
    return tuple(map(Code, tree.body)) if tree else ()


_read_once = lru_cache(maxsize=1_000)(_read)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds at the top level, not inside functions and classes."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (name.asname or name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if not isinstance(node, (*SCOPES, *COMPREHENSIONS)):
            todo += ast.iter_child_nodes(node)


@lru_cache(maxsize=1_000)
def _given(source: str) -> Mapping[str, str]:
    """What the names that a cell of the homework imports refer to."""
    return {
        name: path
        for code in _read(source)
        for name, path in _imports(code.tree, {}).items()
        if name in code.binds
    }


def _imports(statement: ast.stmt, known: Mapping[str, str]) -> Mapping[str, str]:
    """The modules and members that the names in a statement refer to, given what was known before it."""
    if isinstance(statement, SCOPES):
        return {}
    try:
        return Names.of(ast.Module([statement], []), known).aliases
    except RecursionError:
        return {}


def hiding(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The uses of Python's ways to run or find code that is written elsewhere, by line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and (node.id in READING or node.id in RUNNING):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and node.attr in READING:
            yield node.lineno, node.attr
