"""What the pages read from a released notebook: its name, its points, whose it is, where an answer begins."""

import json
from pathlib import Path

from autograder.serving.handout import Handout, handout, mistaken_for
from autograder.source.homework import TEXT_STUB
from autograder.submissions.handed_in import parse

ROOT = Path(__file__).parents[3]
NAMES = sorted(path.name for path in (ROOT / "homeworks").iterdir())
EXPLORING, MODELS, ATTENTION = "hw0_exploring", "hw1_language_models", "hw4_attention"


def cells(name):
    return json.loads((ROOT / "homeworks" / name / f"{name}.ipynb").read_text())["cells"]


def taken_for(found, name):
    handed = parse(json.dumps({"nbformat": 4, "cells": found}).encode()).cells
    return mistaken_for(handed, ROOT, name, NAMES)


def test_every_homework_has_the_heading_and_the_points_that_its_notebook_shows():
    for name in NAMES:
        assert handout(ROOT, name).heading.startswith(f"Homework {name[2]}: ")
        assert handout(ROOT, name).points > 10
    assert handout(ROOT, "hw8_mine") == Handout("hw8_mine")


def test_every_homework_is_taken_for_itself():
    for name in NAMES:
        assert taken_for(cells(name), name) is None
        for other in set(NAMES) - {name}:
            assert taken_for(cells(other), name) == other


def test_any_trace_of_a_homework_has_it_kept():
    [answer, *_] = (cell for cell in cells(EXPLORING) if cell["metadata"].get("nbgrader", {}).get("solution"))
    assert taken_for([*cells(MODELS), answer], EXPLORING) is None
    assert taken_for([{"cell_type": "code", "source": "x = 1", "metadata": {}}], EXPLORING) is None


def test_an_answer_begins_after_its_question_and_is_whole_where_the_question_was_changed():
    page = Handout("", cells={"why": f"### Why?\n\na) b)\n\n{TEXT_STUB}"})
    assert page.answer("why", "### Why?\n\na) b)\n\nBecause.") == "Because."
    assert page.answer("why", f"### Why?\n\na) b)\n\n{TEXT_STUB}\n\nBecause.") == "Because."
    assert page.answer("why", page.cells["why"]) == ""
    between = "### Why?\n\na) Because. b)"
    assert page.answer("why", between) == between
