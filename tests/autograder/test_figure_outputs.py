"""A figure's module changes more often than its lecture can be run."""

import inspect
import json
import re
from html import escape
from pathlib import Path

import pytest
import torch

from autograder.making.figure_outputs import drawn_again, with_todays_caption, with_todays_modules
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


def said(caption):
    shown = output(figures.attention(torch.eye(3), HOSTILE, caption=caption).html())
    shown["data"]["text/plain"] = f"{caption}\nalt"
    return shown


def test_a_caption_that_a_lecture_does_not_give_is_todays():
    by_itself = said(inspect.signature(figures.attention).parameters["caption"].default)
    assert (
        with_todays_caption("x = 1\nfigures.attention(weights, words)", said("An <older> one")) == by_itself
    )
    for source in ('figures.attention(weights, caption="Mine")', "figures.attention(**settings)", "print(1)"):
        assert with_todays_caption(source, said("Mine")) == said("Mine")


def test_a_machine_that_has_changed_is_drawn_again():
    old, new = figures.machine("heads", H=2).html(), figures.machine("heads").html()
    made = drawn_again('figures.machine("heads")\n', output(old))
    assert made["data"]["text/html"] == new
    lines = drawn_again('figures.machine("heads")', output(old.splitlines(keepends=True)))
    assert lines["data"]["text/html"] == new.splitlines(keepends=True)


def test_a_machine_with_another_caption_is_drawn_again():
    html = figures.machine("heads").html()
    made = drawn_again('figures.machine("heads")', output(html.replace("More heads", "Fewer heads")))
    assert made["data"]["text/html"] == html


def test_what_shows_todays_machine_is_not_drawn_again():
    html = figures.machine("heads").html().replace("data:image/png;base64,", "data:image/png;base64,another")
    assert drawn_again('figures.machine("heads")', output(html)) == output(html)


@pytest.mark.parametrize(
    "source",
    [
        'figures.machine("heads", H=2)',
        'figures.machine("heads").alt',
        "print(1)",
        "",
        "figures.rungs(name)",
    ],
)
def test_a_cell_that_does_something_else_is_left_alone(source):
    html = figures.machine("heads", H=2).html()
    assert drawn_again(source, output(html)) == output(html)


@pytest.mark.parametrize(
    "source",
    [
        'figures.rungs("RNN")',
        'print(1)\nfigures.rungs("RNN", new=("RNN",))\n',
        'new, bits = ("RNN",), {"RNN": 2.25, "self-attention": 1.5}\nfigures.rungs("RNN", live=bits)',
    ],
)
def test_a_ladder_that_was_recorded_anew_is_drawn_again(source):
    live = {"RNN": 2.25, "self-attention": 1.5} if "live" in source else None
    new = figures.rungs("RNN", new=("RNN",) if "new=" in source else (), live=live)
    html = new._repr_mimebundle_()["text/html"]
    made = drawn_again(source, output(html.replace("RNN 2.07", "RNN 3.07").replace("3 seeds", "2 seeds")))
    assert made["data"]["text/html"] == html
    other_pixels = html.replace("data:image/png;base64,", "data:image/png;base64,another")
    assert drawn_again(source, output(other_pixels)) == output(other_pixels)


def test_every_figure_has_a_python_side():
    assert [name for name in names() if not callable(getattr(figures, name))] == []


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_what_a_lecture_shows_needs_no_mending(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        source = "".join(cell["source"])
        for shown in cell.get("outputs", []):
            assert drawn_again(source, with_todays_caption(source, with_todays_modules(shown))) == shown


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_s_ladder_is_the_record(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    ((source, shown),) = [
        ("".join(cell["source"]), "".join(output["data"]["text/html"]))
        for cell in cells
        for output in cell.get("outputs", [])
        if "as recorded" in "".join(output.get("data", {}).get("text/html", ""))
    ]
    up_to, new = re.search(r'figures\.rungs\("([^"]*)"(?:, new=\(([^)]*)\))?', source).groups()
    today = figures.rungs(up_to, new=re.findall(r'"([^"]*)"', new or ""))
    assert escape(today.alt) in shown
    seeds, end, _ = today.caption.partition(". ")
    assert escape(seeds + end) in shown
