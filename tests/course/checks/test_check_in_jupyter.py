"""The same checks in a real kernel: what lands in the notebook is what nbgrader and the student see."""

import json

import nbformat
import pytest
from nbclient import NotebookClient

from course.checks.seal import seal
from course.checks.trace import Outcome

CELLS = {
    "setup": """
import sys
import warnings
from course.checks import assert_equal, homework
check = homework("tiny")
loaded = set(sys.modules)
def doubles(double):
    '''Every number is doubled.'''
    assert_equal([double(n) for n in (1, 2, 5)], [2, 4, 10])
""",
    "right": """
def double(n):
    warnings.warn("deprecated")
    return 2 * n
check(doubles, later=1, double=double)
""",
    "wrong": """
def double(n):
    return n * n
check(doubles, later=1, double=double)
""",
    "stub": """
def double(n):
    raise NotImplementedError
check(doubles, later=1, double=double)
""",
    "forbidden": """
class Doubler:
    def __call__(self, n):
        return sum([n, n])
def uses(Doubler):
    '''An object doubles.'''
    assert_equal(Doubler()(3), 6)
check(uses, Doubler=Doubler)
""",
    "unnamed": """
import torch
def filled(fill):
    '''All is one.'''
    assert_equal(fill(3), torch.ones(3, 4))
check(filled, fill=lambda n: torch.eye(n, 4))
""",
    "modules": """
print(len(set(sys.modules) - loaded))
""",
}

RIGHT = [seal(Outcome("value", n)) for n in (2, 4, 10)]
SQUARES = [seal(Outcome("value", 1)), "=", seal(Outcome("value", 25))]
FINGERPRINTS = {
    "homework": "tiny",
    "exercises": {
        "double": {
            "hints": ["What is 5 + 5?"],
            "misconceptions": {
                "squared": {"diagnosis": "It is squared.", "question": "Is 1 <b>twice</b> 1?"}
            },
        },
        "Doubler": {"forbids": ["sum"]},
    },
    "checks": {
        "doubles": {"exercise": "double", "right": RIGHT, "answers": {"squared": SQUARES}},
        "uses": {"exercise": "Doubler", "answers": {}},
    },
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell, run in a kernel beside the fingerprints."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "tiny.json").write_text(json.dumps(FINGERPRINTS), encoding="utf-8")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in CELLS.values()]
    )
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    return dict(zip(CELLS, [cell.outputs for cell in notebook.cells], strict=True))


def test_what_holds_is_displayed_and_nothing_goes_to_standard_error(outputs):
    printed, displayed = outputs["right"]
    assert (printed.output_type, printed.name) == ("stream", "stdout")
    assert "UserWarning: deprecated" in printed.text
    assert (
        displayed.data["text/plain"]
        == "✓ Every number is doubled.\n1 of 1 claim holds; 1 more claim is tested after you hand in"
    )
    assert "✓" in displayed.data["text/html"]


def test_a_failure_is_displayed_and_its_points_are_the_result(outputs):
    displayed, result = outputs["wrong"]
    html = displayed.data["text/html"]
    assert "It is squared." in html
    assert "Is 1 &lt;b&gt;twice&lt;/b&gt; 1?" in html
    assert result.output_type == "execute_result"
    assert result.data["text/plain"] == "0"
    assert "0 of 1 points" in result.data["text/html"]


def test_a_stub_is_one_quiet_line(outputs):
    [result] = outputs["stub"]
    assert result.data["text/plain"] == "0"
    assert "is not written yet" in result.data["text/html"]


def test_no_cell_stops_the_notebook(outputs):
    assert not [output for found in outputs.values() for output in found if output.output_type == "error"]


def test_a_class_of_the_notebook_is_searched_for_forbidden_names(outputs):
    [displayed] = outputs["forbidden"]
    assert "Write this exercise without `sum` (line 3)" in displayed.data["text/plain"]


def test_a_failure_loads_next_to_nothing_while_the_student_waits(outputs):
    assert "values differ" in outputs["unnamed"][0].data["text/plain"]
    assert int(outputs["modules"][0].text) < 20
