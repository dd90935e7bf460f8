"""A figure's module changes more often than its lecture can be run."""

import json
from pathlib import Path

import pytest
import torch

from autograder.making.figure_outputs import with_todays_modules
from course import figures
from course.figures.figure import module, names

LECTURES = sorted((Path(__file__).parents[2] / "lectures").glob("*.ipynb"))
HOSTILE = ["</script>", "const values = { data: 0 };", "\n"]


@pytest.fixture
def figure():
    return figures.attention(torch.eye(3), HOSTILE)


def aged(figure):
    """The figure's HTML as a lecture holds it that was run before the module was written anew."""
    today = module(figure.name).replace("export default", "const figure =", 1)
    assert today in figure.html()
    return figure.html().replace(today, "const figure = { render() {} };\n")


def output(html):
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": html, "text/plain": "a figure"},
    }


def test_an_old_figure_becomes_what_a_run_would_show_to_the_letter(figure):
    assert with_todays_modules(output(aged(figure))) == output(figure.html())


def test_lines_stay_lines(figure):
    old, new = (output(html.splitlines(keepends=True)) for html in (aged(figure), figure.html()))
    assert with_todays_modules(old) == new


def test_what_is_no_figure_of_the_course_stays_as_it_is(figure):
    stranger = aged(figure).replace('"queries":', '"questions":')  # no module and data make this identity
    for html in (stranger, "<figure><img></figure>", "<table></table>"):
        assert with_todays_modules(output(html)) == output(html)
    stream = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    assert with_todays_modules(stream) == stream


def test_every_figure_has_a_python_side():
    assert [name for name in names() if not callable(getattr(figures, name))] == []


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_what_a_lecture_shows_needs_no_mending(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = [output for cell in cells for output in cell.get("outputs", [])]
    assert [with_todays_modules(output) for output in shown] == shown
