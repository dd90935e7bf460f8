"""Homeworks read from the folders under solutions/."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from autograder.catalogue import Alternative, Misconception, NotCode, collect
from autograder.source.fails import read_fails
from autograder.source.homework import (
    REFERENCE_ALONE,
    WITH_ITS_MISTAKES,
    Check,
    Exercise,
    HomeworkSource,
    Written,
    defined,
    exercises_in,
    written_in,
)
from autograder.source.notebook import Cell, SourceError
from autograder.source.ordinary import ordinary
from autograder.source.packages import catalogue_modules
from autograder.source.parts import has_source, joined, source_files


def load(folder: Path | str) -> HomeworkSource:
    """Read solutions/NAME; raises SourceError or CatalogueError, which name what is inconsistent."""
    folder = Path(folder).resolve()
    files = source_files(folder)
    cells = tuple(joined(files))
    source = HomeworkSource(
        name=folder.name,
        folder=folder,
        cells=cells,
        exercises=tuple(exercises_in(cells)),
        written=tuple(written_in(cell) for cell in cells if "written" in cell.labels),
        misconceptions=(),
        alternatives=(),
        not_code=(),
        files=files,
        fails=read_fails(folder),
    )
    wrong, right = catalogue_modules(source)
    homework = replace(
        source,
        misconceptions=tuple(entry for module in wrong for entry in collect(module, Misconception)),
        alternatives=tuple(entry for module in right for entry in collect(module, Alternative)),
        not_code=tuple(entry for module in wrong for entry in collect(module, NotCode)),
    )
    problems = list(inconsistencies(homework))
    if problems:
        raise SourceError(f"{homework.path} is inconsistent:\n- " + "\n- ".join(problems))
    return homework


def find(name: str, root: Path | str = ".") -> HomeworkSource:
    """The homework called NAME under root/solutions; raises SourceError, which lists the existing ones."""
    require_name(name, root)
    folder = Path(root) / "solutions" / name
    return load(folder) if name in names(root) else ordinary(folder)


def require_name(name: str, root: Path | str = ".") -> None:
    """Raise SourceError, which lists the existing homeworks, unless one is called NAME."""
    there = assignments(root)
    if not there:
        place = Path(root).resolve()
        raise SourceError(
            f"{place} has no homework in solutions/. Change to the course folder, or name it with --root."
        )
    if name not in there:
        raise SourceError(f"There is no homework called {name}. There are: {', '.join(there)}.")


def names(root: Path | str = ".") -> list[str]:
    """The homeworks under root/solutions: the folders that hold a source."""
    return [folder.name for folder in _folders(root) if has_source(folder)]


def assignments(root: Path | str = ".") -> list[str]:
    """The homeworks, and the folders that hold a notebook of the same name and no source."""
    return [
        folder.name
        for folder in _folders(root)
        if has_source(folder) or (folder / f"{folder.name}.ipynb").is_file()
    ]


def require_source(homework: HomeworkSource) -> HomeworkSource:
    """The homework itself; raises SourceError for an ordinary notebook."""
    if homework.in_place:
        raise SourceError(
            f"{homework.name} is a notebook without a source: nothing can be built or verified from it. "
            "It can be released and graded."
        )
    return homework


def _folders(root: Path | str) -> list[Path]:
    return sorted(path for path in (Path(root) / "solutions").glob("*") if path.is_dir())


def inconsistencies(homework: HomeworkSource) -> Iterator[str]:
    """A sentence for every name that is used twice, missing, or refers to nothing."""
    yield from _repeated_names(homework)
    yield from _misplaced(homework.cells)
    for exercise in homework.exercises:
        yield from _exercise_problems(exercise)
    entries: tuple[Misconception | Alternative, ...] = (*homework.misconceptions, *homework.alternatives)
    for entry in entries:
        if entry.of not in {exercise.name for exercise in homework.exercises}:
            yield f"{entry.name} belongs to {entry.of}, which is not an exercise."
    for misconception in homework.misconceptions:
        yield from _misconception_problems(misconception, homework)


def _repeated_names(homework: HomeworkSource) -> Iterator[str]:
    named: list[Exercise | Check | Written | Misconception] = [
        *homework.exercises,
        *homework.checks,
        *homework.written,
        *homework.misconceptions,
    ]
    counted = Counter(thing.name for thing in named)
    yield from (f"the name {name} is used {count} times." for name, count in counted.items() if count > 1)


def _misplaced(cells: Iterable[Cell]) -> Iterator[str]:
    exercise = None
    for cell in cells:
        exercise = cell.labels.get("exercise", exercise)
        if "check" in cell.labels and exercise is None:
            yield f"the check {cell.labels['check']} in {_place(cell)} comes before the first exercise."
        if cell.labels.get("solution", exercise) != exercise:
            yield f"the solution {cell.labels['solution']} in {_place(cell)} is below {exercise}."


def _place(cell: Cell) -> str:
    """`a_states.py, line 12`."""
    return f"{cell.line.file.name}, line {cell.line}"


def _exercise_problems(exercise: Exercise) -> Iterator[str]:
    if "### BEGIN SOLUTION" not in exercise.solution:
        yield f"{exercise.name} has no solution cell with a ### BEGIN SOLUTION region."
    elif exercise.name not in defined(exercise.solution):
        yield f"the solution cell of {exercise.name} defines no function or class of that name."
    if exercise.trained not in ("", WITH_ITS_MISTAKES, REFERENCE_ALONE):
        yield f'{exercise.name} is labelled trained="{exercise.trained}" instead of "{REFERENCE_ALONE}".'
    if not exercise.checks:
        yield f"{exercise.name} has no check."
    for check in exercise.checks:
        if not check.claim:
            yield f"the cell of {check.name} defines no function of that name with a docstring."


def _misconception_problems(entry: Misconception, homework: HomeworkSource) -> Iterator[str]:
    siblings = {other.name for other in homework.misconceptions if other.of == entry.of}
    for name in sorted(entry.equals - siblings):
        yield f"{entry.name} is declared equal to {name}, which is not a misconception of {entry.of}."
