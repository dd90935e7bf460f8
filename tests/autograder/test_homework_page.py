"""A homework's notebook on the site: folded checks, and outputs of what needs no answer."""

import pytest

from autograder.website.homework_page import anchor, as_a_page, number_of


def code(source, name="a_cell", **marks):
    metadata = {"nbgrader": marks} if marks else {}
    return {"cell_type": "code", "id": name, "metadata": metadata, "source": source, "outputs": []}


def page(*cells):
    return as_a_page({"cells": list(cells), "nbformat": 4})["cells"]


def printed(cell):
    return "".join(output.get("text", "") for output in cell["outputs"])


def test_a_cell_with_a_title_is_folded_below_it():
    (cell,) = page(code("# @title Checks of norm (2 claims)\ndef a_claim(norm): ...", grade=True))
    assert cell["cell_type"] == "markdown"
    summary, folded = cell["source"].split("</summary>")
    assert summary.endswith('Checks of <code class="literal">norm</code> (2 claims)')
    assert "```python\ndef a_claim(norm): ...\n```" in folded
    assert "@title" not in cell["source"]


def test_a_title_with_no_code_is_a_sentence():
    (cell,) = page(code("# @title After you hand in: Sizes < 3 hold. (2 points)", grade=True))
    assert cell["source"] == "*After you hand in: Sizes &lt; 3 hold. (2 points)*"


def test_a_given_cell_that_needs_no_answer_shows_what_it_prints_and_its_last_value():
    given = code("from math import sqrt\nTABLE = [4, 9]")
    _, cell = page(given, code("for n in TABLE:\n    print(sqrt(n))\nlen(TABLE)"))
    assert printed(cell) == "2.0\n3.0\n"
    assert cell["outputs"][1]["data"]["text/plain"] == "2"


@pytest.mark.parametrize("marks", [{"solution": True}, {"grade": True}])
def test_an_answer_and_a_check_are_not_run(marks):
    (cell,) = page(code("print(1)", **marks))
    assert cell["outputs"] == []


def test_a_cell_that_uses_an_answer_is_not_run_nor_is_one_that_uses_what_it_would_have_made():
    answer = code("def norm(x):\n    raise NotImplementedError", solution=True)
    _, uses, later = page(answer, code("length = norm(3)\nprint(length)"), code("print(length)"))
    assert uses["outputs"] == later["outputs"] == []


def test_a_given_cell_that_does_not_run_here_shows_nothing_nor_does_what_builds_on_it():
    cells = page(
        code("words = open('not/here.txt').read()"), code("len(words)"), code("# nothing yet"), code("1 + 1")
    )
    assert [bool(cell["outputs"]) for cell in cells] == [False, False, False, True]


def test_a_command_of_the_notebook_stays_as_it_is():
    (cell,) = page(code("%timeit 1"))
    assert cell["source"] == "%timeit 1"


def test_an_index_stands_lower_but_not_in_code_formulas_addresses_and_headings():
    text = "### What h_n is\n\n(B, D_h) and `d_k`, $d_k$, a_name, [x](a_b.html); h·d_k"
    (cell,) = page({"cell_type": "markdown", "id": "text", "metadata": {}, "source": text})
    told = "### What h_n is\n\n(B, D<sub>h</sub>) and `d_k`, $d_k$, a_name, [x](a_b.html); h·d<sub>k</sub>"
    assert cell["source"] == told


def test_an_exercise_has_its_number_and_its_place():
    statement = "### 3. What it reads, and says\n\nWrite `f`."
    assert (number_of(statement), anchor(statement)) == ("3", "3-what-it-reads-and-says")
    assert (number_of("## A part"), anchor("## A part")) == ("", "a-part")


def test_a_map_of_shades_keeps_its_colours_on_a_dark_page():
    drawn = "from course.plots import heat_map\nheat_map([[0.25, 0.75], [0.5, 0.5]], 'ab', 'cd', largest=1.0)"
    (cell,) = page(code(drawn))
    assert 'class="keeps-colours"' in cell["outputs"][0]["data"]["text/html"]
