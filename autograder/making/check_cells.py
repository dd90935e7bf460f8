"""The check cells that students see: one for the visible claims of each exercise, one for its hidden claims.

In the source each claim has its own block. Here the blocks of an exercise are joined into one folded cell
that ends in one call, and helpers that only the checks need go into one cell after the imports.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from autograder.source.homework import Check, Exercise, defined
from autograder.source.notebook import Cell, SourceError
from course.checks.check import RESERVED

FOLDED = "folded"  # the label of a folded cell
HELPERS = "helpers_of_the_checks"

LATER = """\
# @title After you hand in: {claims} ({points})
### BEGIN HIDDEN TESTS
{source}
### END HIDDEN TESTS"""


def with_check_cells(cells: Sequence[Cell], exercises: Iterable[Exercise]) -> Iterator[Cell]:
    """The cells of a homework's notebook, with one cell for the visible checks of an exercise and perhaps one
    for its hidden checks, each at the place of its first check. Raises SourceError if they cannot be joined.
    """
    due = {check.name: (exercise, check) for exercise in exercises for check in exercise.checks}
    helpers = [cell for cell in cells if "helper" in cell.labels]
    made: set[str] = set()
    for cell in cells:
        if "check" in cell.labels:
            exercise, check = due[str(cell.labels["check"])]
            if check.cell not in made:
                made.add(check.cell)
                yield _joined(cell, exercise, check.hidden)
        elif "helper" not in cell.labels:
            yield cell
            if "provided" in cell.labels and helpers:
                yield _helpers(helpers)
                helpers = []


def _helpers(cells: Sequence[Cell]) -> Cell:
    text = "\n\n\n".join(["# @title What the checks need", *(cell.source for cell in cells)])
    return Cell("code", text, {"provided": HELPERS, FOLDED: True}, cells[0].line)


def _joined(first: Cell, exercise: Exercise, hidden: bool) -> Cell:
    checks = [check for check in exercise.checks if check.hidden is hidden]
    _require_own_names(checks, first.line.where)
    points = sum(check.points for check in checks)
    worth = _count(points, "bonus point" if exercise.bonus else "point")
    source = "\n\n\n".join([*(check.source for check in checks), _call(checks, exercise)])
    if hidden:
        claims = " ".join(check.claim for check in checks)
        text = LATER.format(claims=claims, points=worth, source=source)
    else:
        text = f"# @title Checks of {exercise.name} ({_count(len(checks), 'claim')}, {worth})\n{source}"
    bonus = {"bonus": True} if exercise.bonus else {}
    labels = {"check": checks[0].cell, "points": points, FOLDED: True, **bonus}
    return Cell("code", text, labels, first.line)


def _require_own_names(checks: Iterable[Check], where: str) -> None:
    """Raise SourceError if two blocks define the same name differently, or one calls `check` itself."""
    counted = Counter(name for check in checks for name in defined(check.source))
    for name, count in counted.items():
        if count > 1:
            raise SourceError(
                f"{where}: {name} is defined in {count} checks of one exercise, whose cells are joined."
            )
    for check in checks:
        if any(
            isinstance(node, ast.Name) and node.id == "check" for node in ast.walk(ast.parse(check.source))
        ):
            raise SourceError(f"{where}: {check.name} calls `check` itself; the builder writes that call.")


def _call(checks: Sequence[Check], exercise: Exercise) -> str:
    """`check(first, second, split_heads=split_heads)`, one line for each argument.

    It also passes the points, if the claims are not worth the same, and the number of hidden claims.
    """
    answers = dict.fromkeys(name for check in checks for name in check.about)
    if taken := RESERVED.intersection(answers):
        raise SourceError(f"{exercise.name}: no answer can be called {min(taken)}.")
    arguments = [*(check.name for check in checks), *(f"{name}={name}" for name in answers)]
    points = [check.points for check in checks]
    if set(points) != {1}:
        arguments.append(f"points={points}")
    later = sum(check.hidden for check in exercise.checks)
    if later and not checks[0].hidden:
        arguments.append(f"later={later}")
    return "check(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def _count(number: float, what: str) -> str:
    return f"{number:g} {what}" + ("" if number == 1 else "s")
