"""Formulas become MathML, code stays code, and nothing that could run gets in."""

import json
from pathlib import Path

import pytest

from autograder.reporting.formulas import with_formulas

ROOT = Path(__file__).parents[2]


def test_formulas_in_a_line_and_on_their_own():
    text = with_formulas("The loss $-\\log_2 P(x_t)$ and\n\n$$H(p) = -\\sum_i p_i \\log p_i$$\n")
    assert text.count("<math") == 2
    assert 'display="block"' in text
    assert "$" not in text
    assert "<msub>" in text


@pytest.mark.parametrize(
    "text",
    [
        "`a$b$c`",
        "```\n$x$ and $y$\n```",
        "It costs 5$ or 6$ a piece",
        "\\$x\\$",
        "a price of $ 5 and $ 6",
        "unfinished $x",
        "$" + "x" * 3000 + "$",
    ],
)
def test_what_is_no_formula_stays(text):
    assert with_formulas(text) == text


@pytest.mark.parametrize(
    "formula",
    [
        "\\href{javascript:alert(1)}{x}",
        "\\style{background:url(http://x)}{y}",
        "<script>alert(1)</script>",
        "\\text{<img src=x onerror=alert(1)>}",
        "\\unknowncommand{x}",
    ],
)
def test_nothing_in_a_formula_runs_or_fetches(formula):
    text = with_formulas(f"see ${formula}$ here")
    for danger in ("<script", "<img", "href=", "onerror=alert(1)>", "style="):
        assert danger not in text or text == f"see ${formula}$ here"


@pytest.mark.parametrize("path", sorted((ROOT / "homeworks").glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_every_formula_of_a_homework_can_be_set(path):
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "markdown":
            assert "$$" not in with_formulas("".join(cell["source"]))
