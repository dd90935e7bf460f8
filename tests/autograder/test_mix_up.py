"""A notebook of another homework is named as that, and any trace of this one has it graded."""

import json
from pathlib import Path

import pytest

from autograder.source.released import source_cells
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import mix_up, repair

ROOT = Path(__file__).parents[2]
EXPLORING, BACKPROP = "hw0_exploring", "hw2_backprop"


def released(name):
    return json.loads((ROOT / "homeworks" / name / f"{name}.ipynb").read_text())


def said(notebook, homework):
    built = json.loads((ROOT / "solutions" / homework / f"{homework}.ipynb").read_text())
    handed = parse(json.dumps(notebook).encode()).cells
    return mix_up(handed, repair(handed, source_cells(built)), homework)


def test_the_notebook_of_another_homework_is_called_by_its_name():
    assert (
        said(released(BACKPROP), EXPLORING)
        == f"This is the notebook of {BACKPROP}, and it contains nothing of {EXPLORING}."
    )


def test_its_own_notebook_is_no_mistake():
    assert said(released(EXPLORING), EXPLORING) is None


@pytest.mark.parametrize("kept", ["answer", "check"])
def test_one_cell_of_this_homework_is_enough_to_be_graded(kept):
    notebook, ours = released(BACKPROP), released(EXPLORING)["cells"]
    is_kept = {"answer": lambda nbgrader: nbgrader["solution"], "check": lambda nbgrader: nbgrader["grade"]}[
        kept
    ]
    graded = [cell for cell in ours if "nbgrader" in cell["metadata"] and cell["cell_type"] == "code"]
    notebook["cells"].append(next(cell for cell in graded if is_kept(cell["metadata"]["nbgrader"])))
    assert said(notebook, EXPLORING) is None


def test_a_notebook_of_ones_own_is_no_other_homework():
    notebook = released(BACKPROP)
    notebook["cells"] = [cell for cell in notebook["cells"] if "homework(" not in "".join(cell["source"])]
    assert said(notebook, EXPLORING) is None
