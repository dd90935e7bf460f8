"""A homework: exercises, stubs, references, checks, and known mistakes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, Literal

from autograder.catalogue import Alternative, Misconception, NotCode
from autograder.source.fails import Fails
from autograder.source.notebook import Cell, Label, Line, SourceError
from course.language import say

# What stands in a stub where the solution was; nbgrader_config.py hands the same text to nbgrader.
CODE_STUB = "# YOUR CODE HERE\nraise NotImplementedError"
TEXT_STUB = say("*Write your answer here.*")

# How an exercise is trained whose reference trains, and whose mistakes train too or are built by hand.
WITH_ITS_MISTAKES, REFERENCE_ALONE = "with its mistakes", "reference"

# How a check ends, see autograder.marks.records.
Result = Literal["passed", "failed", "could_not_run"]
PASSED: Result = "passed"
FAILED: Result = "failed"
COULD_NOT_RUN: Result = "could_not_run"

BONUS = "(bonus)"  # how the heading of an exercise ends whose points are on top

STARS = "●○○", "●●○", "●●●"  # how difficult an exercise is, from 1 to 3

_HINT = re.compile(
    r"<details>\s*<summary>\s*Hint[^<]*</summary>(?P<hint>.*?)</details>", re.DOTALL | re.IGNORECASE
)


@dataclass(frozen=True)
class Check:
    """A named claim about an exercise; hidden ones are not in the release."""

    name: str
    exercise: str
    claim: str  # the sentence the student reads
    hidden: bool
    points: float
    source: str
    line: int
    cell: str  # of the notebook, in which it stands with others of its exercise

    @property
    def about(self) -> tuple[str, ...]:
        """The answers that its claim tests, which are its parameters."""
        function = _function(self.source, self.name)
        return tuple(arg.arg for arg in function.args.args if arg.arg != "draw") if function else ()

    @property
    def draws(self) -> bool:
        """Whether its claim draws its inputs, so that they depend on the seed."""
        return re.search(rf"^def {self.name}\([^)]*\bdraw\b", self.source, re.MULTILINE) is not None


@dataclass(frozen=True)
class Exercise:
    """One thing the student writes: its statement, stub and reference, and the checks that examine it."""

    name: str
    title: str
    statement: str
    difficulty: int
    minutes: int
    forbids: tuple[str, ...]
    hints: tuple[str, ...]
    stub: str
    solution: str
    line: int
    checks: tuple[Check, ...] = ()
    allows: tuple[str, ...] = ()  # of the course's package, and of what it forbids
    exempt: tuple[str, ...] = ()  # the rules of autograder.checking.rules that do not hold here
    dtype: str = ""  # that answers have to be in, where it is the point: elsewhere float32 is good enough
    trained: str = ""  # or what is trained, to other numbers on another processor: none are written down
    bonus: bool = False  # its points are on top of the homework's maximum

    @property
    def points(self) -> float:
        return sum(check.points for check in self.checks)


@dataclass(frozen=True)
class Written:
    """A question answered in words and graded by hand."""

    name: str
    question: str
    points: float
    minutes: int
    bonus: bool = False  # its points are on top of the homework's maximum


Asked = Exercise | Written


@dataclass(frozen=True)
class HomeworkSource:
    """Everything that one folder of solutions/ holds."""

    name: str
    folder: Path
    cells: tuple[Cell, ...]
    exercises: tuple[Exercise, ...]
    written: tuple[Written, ...]
    misconceptions: tuple[Misconception, ...]
    alternatives: tuple[Alternative, ...]
    not_code: tuple[NotCode, ...]
    files: tuple[Path, ...]  # that say so, in order, see autograder.source.parts
    fails: Fails = field(default_factory=dict)
    in_place: bool = False  # its checks stand in an ordinary notebook, see autograder.source.ordinary

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(check for exercise in self.exercises for check in exercise.checks)

    @property
    def asked(self) -> tuple[Asked, ...]:
        """All that students are asked: the exercises, and then the questions to be answered in words."""
        return (*self.exercises, *self.written)

    @property
    def regular(self) -> tuple[Asked, ...]:
        """What makes up the maximum."""
        return tuple(each for each in self.asked if not each.bonus)

    @property
    def on_top(self) -> tuple[Asked, ...]:
        """What is a bonus."""
        return tuple(each for each in self.asked if each.bonus)

    def cell_points(self) -> dict[str, float]:
        """The cells for which nbgrader keeps points (checks and written questions), and how many points.

        For a bonus these are 0, because nbgrader adds them up to the homework's maximum.
        """
        worth = {check.cell: 0.0 for check in self.checks}
        for exercise in self.exercises:
            for check in exercise.checks:
                worth[check.cell] += 0.0 if exercise.bonus else check.points
        return worth | {each.name: 0.0 if each.bonus else each.points for each in self.written}

    @property
    def path(self) -> Path:
        """The file it is written in, or the folder of its parts."""
        return self.files[0] if len(self.files) == 1 else self.files[0].parent

    @property
    def notebook(self) -> Path:
        """The instructor's notebook."""
        return self.folder / f"{self.name}.ipynb"

    def exercise(self, name: str) -> Exercise:
        return next(exercise for exercise in self.exercises if exercise.name == name)

    def failed_by(self, entry: Misconception) -> frozenset[str]:
        """The checks that a misconception fails, as measured; none if that has not been done yet."""
        return self.fails.get((entry.of, entry.name), frozenset())

    def namespace(self) -> dict[str, Any]:
        """The names that the provided cells define when they are executed anew."""
        scope: dict[str, Any] = {"__name__": self.name}
        for cell in self.cells:
            if "provided" in cell.labels:
                execute(cell.source, scope, self.path, cell.line)
        return scope


def references(homework: HomeworkSource) -> dict[str, Any]:
    """The reference solution of every exercise, by the exercise's name."""
    scope = completed(homework)
    return {exercise.name: scope[exercise.name] for exercise in homework.exercises}


def completed(homework: HomeworkSource) -> dict[str, Any]:
    """The names that the notebook with the reference's answers defines when it is executed anew."""
    scope = homework.namespace()
    for exercise in homework.exercises:
        execute(exercise.solution, scope, homework.path, exercise.line)
    return scope


def right_cells(homework: HomeworkSource) -> list[str]:
    """The provided cells, and the reference of every exercise, in an order in which they run."""
    provided = [cell.source for cell in homework.cells if "provided" in cell.labels]
    return [*provided, *(exercise.solution for exercise in homework.exercises)]


def stubs(homework: HomeworkSource) -> dict[str, Any]:
    """The functions and classes that the student starts from, by the exercise's name."""
    scope = homework.namespace()
    for exercise in homework.exercises:
        _execute_stub(exercise, scope)
    return {exercise.name: scope[exercise.name] for exercise in homework.exercises}


def stub(homework: HomeworkSource, name: str, scope: dict[str, Any]) -> Any:
    """The function or class of this name that the student starts from; None if no exercise defines one.

    It is made in a namespace of the homework, which is left unchanged.
    """
    for exercise in homework.exercises:
        if name in defined(exercise.solution):
            scope = dict(scope)
            _execute_stub(exercise, scope)
            return scope.get(name)
    return None


def defined(source: str) -> set[str]:
    """The functions and classes that a cell defines."""
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _execute_stub(exercise: Exercise, scope: dict[str, Any]) -> None:
    """Execute a stub that belongs to no file, so that no traceback shows a line of the reference instead."""
    execute(exercise.stub, scope, Path(f"<the stub of {exercise.name}>"), 1)


def execute(source: str, scope: dict[str, Any], path: Path, line: int) -> None:
    """Run a cell in a scope; tracebacks name the file and the line where it was written.

    path: the file, if the line does not know its own.
    """
    file = line.file if isinstance(line, Line) else path
    exec(compiled(source, str(file), line), scope)


@cache
def compiled(source: str, file: str, line: int) -> CodeType:
    """A cell's code, which begins at this line of a file; compiled once, however often it is run."""
    tree = ast.increment_lineno(ast.parse(source, file), line - 1)
    return compile(tree, file, "exec", dont_inherit=True)


def clear_solution(source: str, stub: str) -> str:
    """The source with every solution region replaced by the stub, at the region's indentation."""
    kept: list[str] = []
    inside = False
    for line in source.splitlines():
        if "### BEGIN SOLUTION" in line:
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            kept += [indent + text for text in stub.splitlines()]
        elif "### END SOLUTION" in line:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def without_markers(source: str) -> str:
    """The source with its solution, and without the lines that say where it begins and ends."""
    kept = (line for line in source.splitlines() if not re.match(r"\s*### (BEGIN|END) SOLUTION", line))
    return "\n".join(kept)


def exercises_in(cells: Iterable[Cell]) -> Iterator[Exercise]:
    current: Exercise | None = None
    for cell in cells:
        if "exercise" in cell.labels:
            yield from [current] if current else []
            current = _statement(cell)
        elif "solution" in cell.labels and current:
            current = replace(
                current,
                stub=clear_solution(cell.source, CODE_STUB),
                solution=cell.source,
                line=cell.line,
            )
        elif "check" in cell.labels and current:
            current = replace(current, checks=(*current.checks, _check(cell, current.name)))
    yield from [current] if current else []


def _statement(cell: Cell) -> Exercise:
    labels = cell.labels
    return Exercise(
        name=str(labels["exercise"]),
        title=title(cell.source),
        statement=cell.source,
        difficulty=int(labels.get("difficulty", 1)),
        minutes=int(labels.get("minutes", 10)),
        forbids=_names(labels.get("forbids", "")),
        hints=tuple(found["hint"].strip() for found in _HINT.finditer(cell.source)),
        stub="",
        solution="",
        line=cell.line,
        allows=_names(labels.get("allows", "")),
        trained=_trained(labels.get("trained", "")),
        exempt=_names(labels.get("exempt", "")),
        dtype=str(labels.get("dtype", "")),
        bonus=is_bonus(cell),
    )


def is_bonus(cell: Cell) -> bool:
    """Whether a statement's points are on top; raises SourceError if its label and its heading disagree."""
    bonus = bool(cell.labels.get("bonus", False))
    if title(cell.source).endswith(BONUS) is not bonus:
        raise SourceError(
            f"{cell.line.where}: the label `bonus` and a heading that ends in {BONUS} go together."
        )
    return bonus


def _names(label: object) -> tuple[str, ...]:
    """The names in a label, which are separated by commas."""
    return tuple(name.strip() for name in str(label).split(",") if name.strip())


def _trained(label: Label) -> str:
    return WITH_ITS_MISTAKES if label is True else str(label)


def title(markdown: str) -> str:
    """`## 3. Attention weights` → `Attention weights`: the first heading without its number."""
    heading = next((line for line in markdown.splitlines() if line.startswith("#")), "")
    return re.sub(r"^#+\s*(\d+[.:]?\s+)?", "", heading).strip()


def words_below(question: str, text: str) -> str:
    """What a student wrote in a cell below its question; all of the text, if the question was edited."""
    asked = question.replace(TEXT_STUB, "").strip()
    return text.strip().removeprefix(asked).strip().removeprefix(TEXT_STUB).strip()


def _check(cell: Cell, exercise: str) -> Check:
    name = str(cell.labels["check"])
    return Check(
        name=name,
        exercise=exercise,
        claim=_claim(cell.source, name),
        hidden=bool(cell.labels.get("hidden", False)),
        points=cell.points,
        source=cell.source,
        line=cell.line,
        cell=check_cell(exercise, bool(cell.labels.get("hidden", False))),
    )


def check_cell(exercise: str, hidden: bool) -> str:
    """The name of the cell that contains an exercise's visible or hidden checks."""
    return f"{exercise}-hidden" if hidden else f"{exercise}-check"


def _claim(source: str, name: str) -> str:
    function = _function(source, name)
    return claim_of(function) if function else ""


def claim_of(function: ast.FunctionDef) -> str:
    """The sentence that a check claims: the first paragraph of its docstring, on one line."""
    return " ".join((ast.get_docstring(function) or "").split("\n\n")[0].split())


def _function(source: str, name: str) -> ast.FunctionDef | None:
    """The function of this name at the top level of a cell."""
    nodes = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return next((node for node in nodes if node.name == name), None)


def written_in(cell: Cell) -> Written:
    return Written(
        name=str(cell.labels["written"]),
        question=clear_solution(cell.source, TEXT_STUB),
        points=cell.points,
        minutes=int(cell.labels.get("minutes", 10)),
        bonus=is_bonus(cell),
    )


def title_of(homework: HomeworkSource) -> str:
    """The first heading of a homework, without the `#`."""
    texts = (cell.source for cell in homework.cells if cell.kind == "markdown")
    headings = (line for text in texts for line in text.splitlines() if line.startswith("# "))
    return next(headings, homework.name).removeprefix("# ")
