"""What a lecture folds: answers that are to be predicted first, and code that only draws."""

import re
from pathlib import Path

import nbformat
import pytest

from autograder.making.lectures import LIVES, PREDICTION, answers, only_draws
from autograder.source.notebook import Cell, read_source

LECTURES = sorted((Path(__file__).parents[2] / "lectures").glob("*.ipynb"))


def code(text):
    return Cell("code", text, {}, 1)


def text(words):
    return Cell("markdown", words, {}, 1)


def test_outputs_are_folded_from_a_prediction_to_the_next_text():
    first, second, later = code("a = 1"), code("a"), code("b")
    cells = [code("x"), text("**Predict, then run.** Which?"), first, second, text("So it is."), later]
    assert list(answers(cells)) == [first, second]


@pytest.mark.parametrize(
    "asks", ["**Predict, then run:** why?", "**Predict, then try:** which?", "**Predict.** Why?"]
)
def test_a_prediction_may_be_asked_for_in_several_ways(asks):
    assert list(answers([text(asks), code("a")])) == [code("a")]


def test_a_figure_that_lives_is_not_folded_and_a_still_one_is():
    alive, still = code("figures.alignment(maps)"), code("figures.still(drawing, alt='')")
    pictures = [still, code("figures.rungs('RNN')")]
    assert list(answers([text("**Predict, then run:** where?"), alive, *pictures])) == pictures


@pytest.mark.parametrize(
    ("source", "draws"),
    [
        ("drawing, axes = plt.subplots(figsize=(6, 2))\naxes.plot(x)", True),
        ("import torch\n\nfigure = plt.figure()", True),
        ("drawing, (left, right) = plt.subplots(1, 2)", True),
        ("x = torch.ones(2)\ndrawing, axes = plt.subplots()", False),
        ("figures.alignment(maps)", False),
    ],
)
def test_code_only_draws_if_it_opens_a_drawing_first(source, draws):
    assert only_draws(code(source)) is draws


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_no_cell_calculates_first_and_draws_then(path):
    cells = [cell for cell in read_source(path.with_suffix(".py")) if cell.kind == "code"]
    drawing = [cell for cell in cells if re.search(r"^\S.* = plt\.(subplots|figure)\(", cell.source, re.M)]
    assert [cell.source for cell in drawing if not only_draws(cell)] == []


def test_text_draws_nothing():
    assert not only_draws(text("drawing, axes = plt.subplots()"))


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_what_stays_open_below_a_prediction_says_nothing_but_its_figure(path):
    asked = False
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            asked = PREDICTION in cell.source
        elif asked and LIVES.search(cell.source):
            assert [output.output_type for output in cell.outputs if output.output_type == "stream"] == []
