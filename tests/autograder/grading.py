"""A small course with a released homework, and the submissions that the tests of grading hand in."""

import json
from pathlib import Path

from autograder.isolation import Limits
from autograder.sample.demo import make_course
from autograder.source.as_answer import as_answer
from autograder.source.loading import load
from autograder.source.sample_submissions import answered, hand_in, reference_answers

ROOT = Path(__file__).resolve().parents[2]
MINI = Path(__file__).parent / "mini_homework"
NAME = MINI.name
SHORT = Limits(call_seconds=1.5, cell_seconds=1.5, submission_seconds=20)
WORDS = "\n\nIt averages noise away, and detail with it."

RIGHT = reference_answers(load(MINI))["moving_average"]


def new_course(folder):
    """A course directory in which the small homework is released."""
    make_course(folder, MINI, ROOT)
    return folder


def released(course):
    """The notebook that students of the course start from."""
    content = json.loads((course / "homeworks" / NAME / f"{NAME}.ipynb").read_text())
    cells = [{**cell, "source": "".join(cell["source"])} for cell in content["cells"]]
    return {**content, "cells": cells}


def named(notebook, name):
    """A cell of a notebook by its nbgrader id."""
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def solved(course, answer=RIGHT):
    """A submission with this answer and some words on the written question."""
    start = released(course)
    return answered(
        start, {"moving_average": answer, "why_smooth": named(start, "why_smooth")["source"] + WORDS}
    )


def submit(course, student, content, folder="submitted"):
    """Hand something in."""
    return hand_in(course / folder, student, NAME, content)


def catalogue(kind):
    """Misconceptions or alternatives of the small homework as answers, by name."""
    homework = load(MINI)
    return {entry.name: as_answer(entry, homework) for entry in getattr(homework, kind)}


def unplug(course):
    """Leave this grader out of nbgrader's own commands."""
    settings = course / "nbgrader_config.py"
    text = settings.read_text()
    assert "\nuse_judge(c)\n" in text
    settings.write_text(text.replace("\nuse_judge(c)\n", "\n"))
