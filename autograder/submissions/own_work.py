"""Whether the student wrote an exercise, as far as the text of a submission can show.

All of the student's cells are read, and names are followed through them: a forbidden name counts as used even
if the answer reaches it through a helper in another cell, or under another name. A student determined to hide
a call can do so: this is a reminder, and shows a person where to look.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from autograder.source.homework import Exercise
from autograder.submissions.hidden_code import (
    OF_ANOTHER_LANGUAGE,
    ONLY_LOOKING,
    READING,
    RUNNING,
    WORDS,
    is_plain,
    out_of_sight,
)
from autograder.submissions.own_modules import is_installed, written
from autograder.submissions.repair import Repaired
from autograder.submissions.starred import starred
from autograder.submissions.statements import Statement, codes, read
from course.checks.forbidden import IMPORTING, LONGEST_SOURCE, Names, Rule, uses_in
from course.language import joined, say

MOST_SEARCHED = 2 * LONGEST_SOURCE  # characters of one submission
MOST_PLACES = 3  # that a sentence names
MAY_IMPORT = IMPORTING | {"import"}


@dataclass
class OwnWork:
    """The code of one submission, and what it shows about each exercise."""

    submission: Repaired
    exercises: Sequence[Exercise]
    unread: list[str] = field(default_factory=list)  # answers longer than anybody writes
    plain: dict[str, bool] = field(default_factory=dict, init=False)  # see `is_plain`
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
        """What the cells' top-level names refer to: "" is code of the notebook. The last binding counts.

        `.name` is an attribute that the body of a class sets to a module.
        """
        aliases: dict[str, str] = {}
        for cell in self.submission.cells:
            if cell.kind == "code" and cell.role == "given":
                aliases |= _given(cell.source)
        for at, statement in enumerate(self.statements):
            code = statement.code
            if code.binds:
                means = _imports(code.tree, code.known(aliases)) if code.is_searchable else {}
                aliases |= dict.fromkeys(code.binds, "")
                aliases |= {
                    name: path for name, path in means.items() if name in code.binds or name[0] == "."
                }
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
            for line, name in out_of_sight(
                entry.code.tree, self.shadowed, frozenset(filter(self.is_plain, entry.code.timed))
            )
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

    def is_plain(self, name: str) -> bool:
        """Whether whatever the notebook binds a name to is a definition, or text that binds nothing."""
        if name not in self.plain:
            values = [
                value for entry in self.binders.get(name, ()) for value in entry.code.given.get(name, [])
            ]
            self.plain[name] = bool(values) and all(map(is_plain, values))
        return self.plain[name]

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


@lru_cache(maxsize=1_000)
def _given(source: str) -> Mapping[str, str]:
    """What the names that a cell of the homework imports refer to."""
    return {
        name: path
        for code in read(source) or ()
        for name, path in _imports(code.tree, {}).items()
        if name in code.binds
    }


def _imports(statement: ast.stmt, known: Mapping[str, str]) -> Mapping[str, str]:
    """The modules and members that the names in a statement refer to, given what was known before it."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return {}
    if isinstance(statement, ast.ClassDef):
        entries: list[ast.stmt] = [
            entry for entry in statement.body if isinstance(entry, ast.Assign | ast.AnnAssign)
        ]
        if not entries:
            return {}
        statement = ast.ClassDef(statement.name, [], [], entries, [])
    try:
        return Names.of(ast.Module([statement], []), known).aliases
    except RecursionError:
        return {}
