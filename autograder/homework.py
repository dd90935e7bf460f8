"""A homework read from its folder: exercises, stubs, references, checks, and what is known to go wrong."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from autograder.catalogue import Alternative, Misconception, NotCode, collect
from autograder.consistency import inconsistencies
from autograder.notebook import Cell, SourceError, read_source

# What stands in a stub where the solution was; nbgrader_config.py hands the same text to nbgrader.
CODE_STUB = "# YOUR CODE HERE\nraise NotImplementedError"
TEXT_STUB = "*Write your answer here.*"

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
    trained: bool = False  # its numbers differ from processor to processor, and none are written down

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


@dataclass(frozen=True)
class HomeworkSource:
    """Everything one folder of solutions/ says."""

    name: str
    folder: Path
    cells: tuple[Cell, ...]
    exercises: tuple[Exercise, ...]
    written: tuple[Written, ...]
    misconceptions: tuple[Misconception, ...]
    alternatives: tuple[Alternative, ...]
    not_code: tuple[NotCode, ...]
    in_place: bool = False  # its checks stand in an ordinary notebook, see autograder.ordinary

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(check for exercise in self.exercises for check in exercise.checks)

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.py"

    def exercise(self, name: str) -> Exercise:
        return next(exercise for exercise in self.exercises if exercise.name == name)

    def namespace(self) -> dict[str, Any]:
        """The names the provided cells define, executed afresh."""
        scope: dict[str, Any] = {"__name__": self.name}
        for cell in self.cells:
            if "provided" in cell.labels:
                execute(cell.source, scope, self.path, cell.line)
        return scope


def load(folder: Path | str) -> HomeworkSource:
    """Read solutions/NAME; raises SourceError or CatalogueError naming what does not fit."""
    folder = Path(folder).resolve()
    cells = tuple(read_source(folder / f"{folder.name}.py"))
    wrong, right = _modules(folder, "misconceptions"), _modules(folder, "alternatives")
    homework = HomeworkSource(
        name=folder.name,
        folder=folder,
        cells=cells,
        exercises=tuple(_exercises(cells)),
        written=tuple(_written(cell) for cell in cells if "written" in cell.labels),
        misconceptions=tuple(entry for module in wrong for entry in collect(module, Misconception)),
        alternatives=tuple(entry for module in right for entry in collect(module, Alternative)),
        not_code=tuple(entry for module in wrong for entry in collect(module, NotCode)),
    )
    problems = list(inconsistencies(homework))
    if problems:
        raise SourceError(f"{homework.path} does not fit together:\n- " + "\n- ".join(problems))
    return homework


def find(name: str, root: Path | str = ".") -> HomeworkSource:
    """The homework called NAME under root/solutions; raises SourceError listing the ones there are."""
    from autograder.ordinary import ordinary  # which is written in terms of what is defined here

    require_name(name, root)
    folder = Path(root) / "solutions" / name
    return load(folder) if name in names(root) else ordinary(folder)


def require_name(name: str, root: Path | str = ".") -> None:
    """Raise SourceError, listing the homeworks there are, unless one is called NAME."""
    there = assignments(root)
    if not there:
        place = Path(root).resolve()
        raise SourceError(
            f"{place} holds no homework in solutions/. Go to the course's folder, or name it: --root."
        )
    if name not in there:
        raise SourceError(f"There is no homework called {name}. There are: {', '.join(there)}.")


def names(root: Path | str = ".") -> list[str]:
    """The homeworks under root/solutions: the folders that hold a source of the same name."""
    return _folders_with(root, ".py")


def assignments(root: Path | str = ".") -> list[str]:
    """The homeworks, and the folders that hold a notebook of the same name and no source."""
    return _folders_with(root, ".py", ".ipynb")


def require_source(homework: HomeworkSource) -> HomeworkSource:
    """The homework itself; raises SourceError for an ordinary notebook."""
    if homework.in_place:
        raise SourceError(
            f"{homework.name} is a notebook without a source: nothing can be built from it or proved of it. "
            "It can be released and graded."
        )
    return homework


def _folders_with(root: Path | str, *endings: str) -> list[str]:
    folders = sorted(path for path in (Path(root) / "solutions").glob("*") if path.is_dir())
    return [
        folder.name
        for folder in folders
        if any((folder / f"{folder.name}{ending}").is_file() for ending in endings)
    ]


def references(homework: HomeworkSource) -> dict[str, Any]:
    """The reference solution of every exercise, by the exercise's name."""
    scope = homework.namespace()
    for exercise in homework.exercises:
        execute(exercise.solution, scope, homework.path, exercise.line)
    return {exercise.name: scope[exercise.name] for exercise in homework.exercises}


def stubs(homework: HomeworkSource) -> dict[str, Any]:
    """What the student starts from, by the exercise's name."""
    scope = homework.namespace()
    for (
        exercise
    ) in homework.exercises:  # of no file, so that no traceback shows a line of the reference instead
        execute(exercise.stub, scope, Path(f"<the stub of {exercise.name}>"), 1)
    return {exercise.name: scope[exercise.name] for exercise in homework.exercises}


def execute(source: str, scope: dict[str, Any], path: Path, line: int) -> None:
    """Run a cell in a scope; tracebacks name the file and line it was written on."""
    exec(compiled(source, str(path), line), scope)


@cache
def compiled(source: str, file: str, line: int) -> CodeType:
    """A cell's code, as it stands in a file from a line on; compiled once, however often it is run."""
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


def _exercises(cells: Iterable[Cell]) -> Iterator[Exercise]:
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
        forbids=tuple(name.strip() for name in str(labels.get("forbids", "")).split(",") if name.strip()),
        hints=tuple(found["hint"].strip() for found in _HINT.finditer(cell.source)),
        stub="",
        solution="",
        line=cell.line,
        trained=bool(labels.get("trained", False)),
    )


def title(markdown: str) -> str:
    """`## 3. Attention weights` → `Attention weights`: the first heading without its number."""
    heading = next((line for line in markdown.splitlines() if line.startswith("#")), "")
    return re.sub(r"^#+\s*(\d+[.:]?\s+)?", "", heading).strip()


def _check(cell: Cell, exercise: str) -> Check:
    name = str(cell.labels["check"])
    return Check(
        name=name,
        exercise=exercise,
        claim=_claim(cell.source, name),
        hidden=bool(cell.labels.get("hidden", False)),
        points=cell.labels.get("points", 0),
        source=cell.source,
        line=cell.line,
    )


def _claim(source: str, name: str) -> str:
    defined = [
        node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    claim = ast.get_docstring(defined[0]) if defined else None
    return " ".join(claim.split("\n\n")[0].split()) if claim else ""


def _written(cell: Cell) -> Written:
    return Written(
        name=str(cell.labels["written"]),
        question=clear_solution(cell.source, TEXT_STUB),
        points=cell.labels.get("points", 0),
        minutes=int(cell.labels.get("minutes", 10)),
    )


def catalogue_files(folder: Path, kind: str) -> list[Path]:
    """The files of one kind: KIND.py, or one file per theme in a folder KIND, in the order of their names."""
    single = folder / f"{kind}.py"
    return [*([single] if single.is_file() else []), *sorted((folder / kind).glob("*.py"))]


def _modules(folder: Path, kind: str) -> list[ModuleType]:
    return [_module(path, f"solutions.{folder.name}.{kind}") for path in catalogue_files(folder, kind)]


def _module(path: Path, package: str) -> ModuleType:
    """The module at a path, known by a name of its own, as dataclasses need."""
    name = f"{package}.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
