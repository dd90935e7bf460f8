"""What a notebook provides beside its exercises answers none of them."""

from inspect import isclass, isfunction

import pytest

from autograder.checking.examine import run_checks
from autograder.source.homework import references
from autograder.source.loading import find, names
from course.checks import LocalLink


@pytest.mark.parametrize("name", names())
def test_no_cell_between_the_exercises_holds_an_answer(name):
    """A ready-made part stands at the top, where it is defined after a restart, or nowhere."""
    homework = find(name)
    right, provided = references(homework), defined_between(homework)
    answered = [
        (exercise.name, part)
        for exercise in homework.exercises
        if not exercise.trained
        for part, thing in provided.items()
        if isclass(thing) is isclass(right[exercise.name]) and holds(homework, exercise, right, thing)
    ]
    assert answered == []


def defined_between(homework):
    """Functions and classes that are defined or imported by provided cells after the first exercise.

    What only checks need (`helper`) stands at the top of the notebook.
    """
    scope, seen, found = {}, False, {}
    for cell in homework.cells:
        seen = seen or "exercise" in cell.labels
        if cell.kind == "code" and "provided" in cell.labels:
            before = dict(scope)
            exec(cell.source, scope)
            fresh = {name: thing for name, thing in scope.items() if before.get(name) is not thing}
            found |= fresh if seen and "helper" not in cell.labels else {}
    return {name: thing for name, thing in found.items() if isfunction(thing) or isclass(thing)}


def holds(homework, exercise, right, thing):
    visible = {check.name for check in exercise.checks if not check.hidden}
    return all(
        done.result == "passed"
        for done in run_checks(homework, LocalLink(right | {exercise.name: thing}), 1, only=visible)
    )
