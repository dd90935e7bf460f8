"""What a notebook provides answers none of its exercises, or may not be used there."""

from inspect import isclass, isfunction, signature

import pytest

from autograder.checking.examine import run_checks
from autograder.source.homework import references
from autograder.source.loading import find, names
from course.checks import LocalLink


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """A part that reads a model by its name is given other things here, and asks no network for them."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


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
        if part not in exercise.forbids
        and isclass(thing) is isclass(right[exercise.name])
        and takes_as_much(thing, right[exercise.name])
        and holds(homework, exercise, right, thing)
    ]
    assert answered == []


def defined_between(homework):
    """Functions and classes that are defined or imported by provided cells after the first exercise.

    What only checks need (`helper`) counts too, although the notebook has it at the top.
    """
    scope, seen, found = {}, False, {}
    for cell in homework.cells:
        seen = seen or "exercise" in cell.labels
        if cell.kind == "code" and "provided" in cell.labels:
            before = dict(scope)
            exec(cell.source, scope)
            fresh = {name: thing for name, thing in scope.items() if before.get(name) is not thing}
            found |= fresh if seen else {}
    return {name: thing for name, thing in found.items() if isfunction(thing) or isclass(thing)}


def takes_as_much(thing, right):
    """Whether it can be called with as many arguments as the right answer."""
    try:
        signature(thing).bind(*signature(right).parameters)
    except TypeError:
        return False
    return True


def holds(homework, exercise, right, thing):
    visible = {check.name for check in exercise.checks if not check.hidden}
    return all(
        done.result == "passed"
        for done in run_checks(homework, LocalLink(right | {exercise.name: thing}), 1, only=visible)
    )
