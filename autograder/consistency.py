"""What must fit together in the folder of a homework before anything is made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from autograder.catalogue import Misconception
from autograder.homework import REFERENCE_ALONE, WITH_ITS_MISTAKES, Exercise, HomeworkSource, defined
from autograder.notebook import Cell


def inconsistencies(homework: HomeworkSource) -> Iterator[str]:
    """A sentence for every name that is used twice, missing, or refers to nothing."""
    yield from _repeated_names(homework)
    yield from _misplaced(homework.cells)
    for exercise in homework.exercises:
        yield from _exercise_problems(exercise)
    for entry in (*homework.misconceptions, *homework.alternatives):
        if entry.of not in {exercise.name for exercise in homework.exercises}:
            yield f"{entry.name} is of {entry.of}, which is not an exercise."
    for entry in homework.misconceptions:
        yield from _misconception_problems(entry, homework)


def _repeated_names(homework: HomeworkSource) -> Iterator[str]:
    named = [*homework.exercises, *homework.checks, *homework.written, *homework.misconceptions]
    counted = Counter(thing.name for thing in named)
    yield from (f"the name {name} is used {count} times." for name, count in counted.items() if count > 1)


def _misplaced(cells: Iterable[Cell]) -> Iterator[str]:
    exercise = None
    for cell in cells:
        exercise = cell.labels.get("exercise", exercise)
        if "check" in cell.labels and exercise is None:
            yield f"the check {cell.labels['check']} in {_place(cell)} comes before the first exercise."
        if cell.labels.get("solution", exercise) != exercise:
            yield f"the solution {cell.labels['solution']} in {_place(cell)} stands under {exercise}."


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
    checks = {check.name for check in homework.checks if check.exercise == entry.of}
    for name in sorted(entry.fails - checks):
        yield f"{entry.name} is declared to fail {name}, which is no check of {entry.of}."
    siblings = {other.name for other in homework.misconceptions if other.of == entry.of}
    for name in sorted(entry.equals - siblings):
        yield f"{entry.name} is declared equal to {name}, which is no misconception of {entry.of}."
