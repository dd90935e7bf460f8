"""A result follows its controls, is complete without them, and leaves nothing behind that needs a kernel."""

import json

import pytest

from autograder.making.lectures import execute
from course import explore
from course.explore import Said, choice, number, result, sentence

CELLS = """
from course.explore import choice, explore, number, sentence

def show(prompt, temperature, method):
    if temperature > 2:
        raise ValueError("too hot")
    return f"{prompt}|{temperature}|{method}"

import ipywidgets
made = []
keep = ipywidgets.VBox
ipywidgets.VBox = lambda children: made.append(keep(children)) or made[-1]
explore(show, prompt=sentence("prompt", "the"), temperature=number("temperature", 0.5, 0.1, 3.0),
        method=choice("method", ["greedy", "sample"]))
"""


def notebook(*sources: str) -> dict:
    """A notebook of code cells."""
    cells = [
        {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "source": source, "outputs": [],
         "execution_count": None}
        for i, source in enumerate(sources)
    ]  # fmt: skip
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def shown(cell: dict) -> list[str]:
    return ["".join(output["data"].get("text/plain", "")) for output in cell["outputs"] if "data" in output]


def test_an_executed_notebook_keeps_the_result_of_the_defaults_and_nothing_of_the_widgets(tmp_path):
    done = execute(notebook(CELLS), tmp_path)
    assert shown(done["cells"][0]) == ["'the|0.5|greedy'"]
    assert "widget" not in json.dumps(done["cells"][0]["outputs"])


def test_moving_a_control_replaces_the_result_in_its_place(tmp_path):
    moves = "made[0].children[1].value = 1.5\nmade[0].children[2].value = 'sample'"
    done = execute(notebook(CELLS, moves), tmp_path)
    assert shown(done["cells"][0]) == ["'the|1.5|sample'"]
    assert done["cells"][1]["outputs"] == []


def test_what_the_function_raises_is_shown_and_the_control_can_be_moved_back(tmp_path):
    hot = execute(notebook(CELLS, "made[0].children[1].value = 2.5"), tmp_path)
    assert shown(hot["cells"][0]) == ["ValueError: too hot"]
    back = execute(
        notebook(CELLS, "made[0].children[1].value = 2.5\nmade[0].children[1].value = 1"), tmp_path
    )
    assert shown(back["cells"][0]) == ["'the|1.0|greedy'"]


def test_every_control_has_a_label_that_is_not_cut_off():
    for control in (number("n", 1, 0, 2), sentence("prompt", ""), choice("method", ["a", "b"], "b")):
        widget = control.widget()
        assert widget.value == control.value
        assert widget.description
        assert widget.style.description_width == "initial"


def test_a_default_outside_what_can_be_chosen_is_refused():
    with pytest.raises(ValueError, match="between 0 and 2"):
        number("n", 3, 0, 2)
    with pytest.raises(ValueError, match="one of"):
        choice("method", ["a", "b"], "c")


def test_a_sentence_is_escaped():
    assert isinstance(result(lambda: 1 / 0, {}), Said)
    assert "&lt;b&gt;" in explore.Said("<b>")._repr_mimebundle_()["text/html"]
