"""A realistic class, made from a homework's catalogue: good, partial, mistaken and odd work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.source.as_answer import as_answer
from autograder.source.homework import HomeworkSource
from autograder.source.notebook import to_json
from autograder.source.sample_submissions import answered, hand_in, reference_answers

# students → how many known mistakes each makes
MISTAKEN = {"Esra": 1, "Farid": 2, "Grace": 1, "Hiroshi": 4, "Ines": 3, "Jonas": 2}

ENDLESS = """\
def {name}(*arguments, **settings):
    waiting = True
    while waiting:
        pass
"""

AGREEABLE = """\
import course.checks
import torch


class Agreeable:
    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return self

    def __call__(self, *arguments, **settings):
        return self


for module in (course.checks, torch):
    for name in ("assert_close", "assert_equal", "allclose", "equal", "same"):
        setattr(module, name, lambda *arguments, **settings: True)

{name} = Agreeable()
"""

WORDS = "The mean runs over all tokens, so a long sentence weighs more than a short one."


def hand_in_class(homework: HomeworkSource, released: Mapping, folder: Path) -> list[str]:
    """Write a submission for every student of the sample class in nbgrader's layout; returns their names."""
    students = dict(_class(homework, released))
    for student, content in students.items():
        hand_in(folder, student.lower(), homework.name, content)
    return [student.lower() for student in students]


def _class(homework: HomeworkSource, released: Mapping) -> Iterator[tuple[str, Mapping | str]]:
    """Each student's name and notebook."""
    right = reference_answers(homework) | {
        written.name: _in_words(released, written.name) for written in homework.written
    }

    def notebook(changes: dict[str, str]) -> dict:
        return answered(released, right | changes)

    names = [exercise.name for exercise in homework.exercises]
    stubs = {exercise.name: exercise.stub for exercise in homework.exercises}
    whole = to_json(notebook({}))
    early, middle = names[len(names) // 3], names[len(names) // 2]
    yield "Amira", notebook(_alternatives(homework, 0))
    yield "Ben", notebook(_alternatives(homework, -1))
    yield "Chidi", notebook({name: stubs[name] for name in names[len(names) // 2 :]})
    yield "Dana", notebook({name: stubs[name] for name in names[len(names) // 6 :]})
    for place, (student, count) in enumerate(MISTAKEN.items()):
        yield student, notebook(_mistakes(homework, count, place))
    yield "Kofi", notebook({early: right[early].replace(":\n", "\n", 1)})
    yield "Lena", notebook({middle: ENDLESS.format(name=middle)})
    yield "Mateo", whole[: len(whole) * 2 // 3]
    yield "Nadia", _without_metadata(notebook(_mistakes(homework, 1, 7)))
    yield "Oskar", notebook({name: AGREEABLE.format(name=name) for name in names})


def _in_words(released: Mapping, name: str) -> str:
    """A written question with an answer below it, as students write it."""
    cells = (
        cell for cell in released["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == name
    )
    return "".join(next(cells)["source"]) + "\n\n" + WORDS


def _alternatives(homework: HomeworkSource, place: int) -> dict[str, str]:
    """For every exercise its first or its last alternative solution."""
    chosen = {}
    for exercise in homework.exercises:
        entries = [entry for entry in homework.alternatives if entry.of == exercise.name]
        if entries:
            chosen[exercise.name] = as_answer(entries[place], homework)
    return chosen


def _mistakes(homework: HomeworkSource, count: int, place: int) -> dict[str, str]:
    """`count` known mistakes in as many exercises; neighbours in the class share some of them."""
    exercises = [
        entries
        for exercise in homework.exercises
        if (entries := [entry for entry in homework.misconceptions if entry.of == exercise.name])
    ]
    step = max(1, len(exercises) // max(count, 1))
    chosen = [exercises[(place // 2 + number * step) % len(exercises)] for number in range(count)]
    return {entries[0].of: as_answer(entries[place // 4 % len(entries)], homework) for entries in chosen}


def _without_metadata(notebook: Mapping) -> dict:
    """The notebook as saved by an editor that keeps no metadata."""
    cells = [
        {key: value for key, value in cell.items() if key != "id"} | {"metadata": {}}
        for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


def hand_in_ordinary(homework: HomeworkSource, released: Mapping, folder: Path, count: int) -> None:
    """Ordinary submissions: every fourth is correct, the others make one to three known mistakes."""
    right = reference_answers(homework)
    for number in range(count):
        mistakes = _mistakes(homework, number % 4, number) if number % 4 else {}
        hand_in(folder, f"student_{number:03}", homework.name, answered(released, right | mistakes))
