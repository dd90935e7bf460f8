"""Whether the student wrote an exercise, as far as the text of a submission can show.

All of the student's cells are read, and names are followed through them: a forbidden name counts as used even
if the answer reaches it through a helper in another cell, or under another name. A student determined to hide
a call can do so: this is a reminder, and shows a person where to look.
"""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from autograder.source.homework import Exercise
from autograder.submissions import bindings
from autograder.submissions.copied import Definition, copied
from autograder.submissions.hidden_code import (
    OF_ANOTHER_LANGUAGE,
    ONLY_LOOKING,
    READING,
    RUNNING,
    WORDS,
    hiding,
    out_of_sight,
)
from autograder.submissions.inlined import inlined
from autograder.submissions.own_modules import imports, is_installed, written
from autograder.submissions.repair import Repaired
from autograder.submissions.starred import starred
from course.checks.forbidden import IMPORTING, LONGEST_SOURCE, Names, Rule, parsed, uses_in
from course.language import joined, say

MOST_SEARCHED = 2 * LONGEST_SOURCE  # characters of one submission
LONGEST_KEPT = 5_000  # characters
MOST_PLACES = 3  # that a sentence names
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
MAY_IMPORT = IMPORTING | {"import"}
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
                found |= set(node.value[:200].split("."))
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
        bound = kinds[ast.alias] + kinds[ast.Assign]
        return bound * (kinds[ast.Name] + kinds[ast.Attribute]) <= MOST_PAIRS

    @property
    def texts(self) -> Iterator[str]:
        """The texts in it that may name a file of Python's."""
        for node in ast.walk(self.tree) if "py" in self.words else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value

    def known(self, aliases: Mapping[str, str]) -> dict[str, str]:
        """The entries of `aliases` whose names occur in it."""
        return {name: aliases[name] for name in self.words & aliases.keys()}


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
        self.unreadable = [
            place
            for place, cell in cells
            if texts.get(place, ()) is None and not OF_ANOTHER_LANGUAGE.match(cell.source)
        ]
        self.statements = [
            Statement(cell.of.name if cell.of else "", place + 1, code)
            for place, cell in cells
            if not OF_ANOTHER_LANGUAGE.match(cell.source)
            for code in texts.get(place) or ()
        ]

    @cached_property
    def starred(self) -> Mapping[int, Mapping[str, str]]:
        """The number of a statement → what its stars bind; of several of one module the last counts."""
        last = {module: at for at, entry in enumerate(self.statements) for module in entry.code.stars}
        found: dict[int, dict[str, str]] = {}
        for module, at in last.items():
            found.setdefault(at, {}).update(starred(module))
        return found

    @cached_property
    def binders(self) -> Mapping[str, list[Statement]]:
        """Name → the statements that bind it, in the order of the notebook."""
        found: dict[str, list[Statement]] = {}
        for at, statement in enumerate(self.statements):
            for name in statement.code.binds.union(self.starred.get(at, ())):
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def changers(self) -> Mapping[str, list[Statement]]:
        """Name → the statements that change the object of this name."""
        found: dict[str, list[Statement]] = {}
        for statement in self.statements:
            for name in statement.code.changes - statement.code.binds:
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """What the cells' top-level names refer to: "" is code of the notebook. The last binding counts."""
        aliases: dict[str, str] = {}
        for cell in self.submission.cells:
            if cell.kind == "code" and cell.role == "given":
                aliases |= _given(cell.source)
        for at, statement in enumerate(self.statements):
            code = statement.code
            if code.binds:
                means = _imports(code.tree, code.known(aliases)) if code.is_searchable else {}
                aliases |= {name: means.get(name, "") for name in code.binds}
            aliases |= self.starred.get(at, {})
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
        answer = [entry for entry in self.statements if entry.cell == exercise]
        todo = deque({id(entry): entry for entry in (*answer, *self.ways_to(exercise))}.values())
        seen = set(map(id, todo))
        while todo:
            statement = todo.popleft()
            yield statement
            names = statement.code.reads - known
            known |= names
            for name in sorted(names):
                new = [entry for entry in self.ways_to(name) if id(entry) not in seen]
                seen |= set(map(id, new))
                todo += new

    def ways_to(self, name: str) -> Iterator[Statement]:
        """The statements that bind a name, or change what it stands for."""
        yield from self.binders.get(name, ())
        yield from self.changers.get(name, ())

    def parts(self, exercise: str) -> list[str]:
        """The other exercises whose functions and classes the answer uses, in the order of the notebook."""
        reads = {name for statement in self.reached(exercise) for name in statement.code.reads}
        return [other.name for other in self.exercises if other.name != exercise and other.name in reads]

    def remarks(self, exercise: str) -> Iterator[str]:
        """Sentences for a person about what may not be the student's own work, whatever names it uses."""
        exercises = {entry.name for entry in self.exercises}
        yield from self.bound_elsewhere(exercise)
        for statement in self.reached(exercise):
            yield from (
                say("`{name}` depends on {remark}.", name=exercise, remark=remark)
                for remark in statement.remarks(exercises)
            )

    def unseen(self) -> Iterator[str]:
        """A sentence if cells run code or bind names unseen, whether or not an answer depends on them."""
        places = [
            say("`{name}` in {where} (line {line})", name=name, where=entry.where, line=line)
            for entry in self.statements
            if entry.code.words & WORDS
            for line, name in out_of_sight(entry.code.tree, self.shadowed)
            if not (entry.cell and name in RUNNING | READING)  # a remark on its exercise says so
        ]
        if places:
            yield say(
                "What its cells do cannot be told from their text alone: {places}.",
                places=joined(", ", few(places)),
            )

    @cached_property
    def shadowed(self) -> frozenset[str]:
        """The names of what only looks that these cells have given to something else."""
        return ONLY_LOOKING & {name for entry in self.statements for name in entry.code.gives}

    def own_modules(self, ran: Collection[int]) -> Iterator[str]:
        """A sentence if the cells that ran have imported modules that the submission brings along."""
        names = self.written
        places = [
            say("`{name}` in {where} (line {line})", name=name, where=entry.where, line=line)
            for entry in self.statements
            if names or entry.code.words & MAY_IMPORT
            for line, name, may_be_missing in entry.code.imports
            if name in names or (not may_be_missing and entry.number - 1 in ran and not is_installed(name))
        ]
        if places:
            yield say(
                "Modules of the student's own, whose files were not searched: {places}.",
                places=joined(", ", few(list(dict.fromkeys(places)))),
            )

    @cached_property
    def written(self) -> set[str]:
        """The names of the modules whose files the cells name: `%%writefile solved.py` → {"solved"}."""
        texts = [
            cell.source
            for cell in self.submission.cells
            if cell.role == "own" and cell.kind == "code" and OF_ANOTHER_LANGUAGE.match(cell.source)
        ]
        texts += [text for entry in self.statements for text in entry.code.texts]
        return {name for text in texts for name in written(text)}

    def unread_cells(self, ran: Collection[int]) -> Iterator[str]:
        """A sentence if cells of the student's own ran though they could not be read; `ran`: their places."""
        found = [str(place + 1) for place in self.unreadable if place in ran]
        if found:
            yield say(
                "Not searched, since they are too long or no plain Python, and yet run: cell {numbers}.",
                numbers=", ".join(few(found)),
            )

    def bound_elsewhere(self, exercise: str) -> Iterator[str]:
        """A sentence if a cell other than its answer binds an exercise's name."""
        places = [entry for entry in self.binders.get(exercise, ()) if entry.cell != exercise]
        if places:
            last = places[-1]
            yield say(
                "`{name}` is bound in {where} (line {line}), not only in its own cell; "
                "the checks saw what was bound last.",
                name=exercise,
                where=last.where,
                line=last.code.tree.lineno,
            )


def few(things: Sequence[str]) -> list[str]:
    """The first of them, and a sign that there are more."""
    return [*things[:MOST_PLACES], *(["…"] if len(things) > MOST_PLACES else [])]


def codes(source: str) -> tuple[Code, ...] | None:
    """The statements of a cell, None if it cannot be read; a cell that many students share is read once."""
    return _read_once(source) if len(source) <= LONGEST_KEPT else _read(source)


def _read(source: str) -> tuple[Code, ...] | None:
    tree = parsed(source)
    return None if tree is None else tuple(Code(inlined(statement, source)) for statement in tree.body)


_read_once = lru_cache(maxsize=1_000)(_read)


@lru_cache(maxsize=1_000)
def _given(source: str) -> Mapping[str, str]:
    """What the names that a cell of the homework imports refer to."""
    return {
        name: path
        for code in _read(source) or ()
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
