"""A figure as MyST's directive: what is written, and what MyST reads out of it."""

import json

import pytest
import torch
from in_myst import made_by_myst, needs_myst, nodes

from course import figures
from course.figures.myst import as_directive

HOSTILE = ["```", "</script>\n:::", '{"a": \\1}']
CAPTION = "Rows *sum* to $1$: see `a_b`, [c](d), {e}`f` and ~all~ of <b>."


@pytest.fixture
def figure():
    return figures.attention(torch.eye(3), HOSTILE, caption=CAPTION)


def test_the_directive_names_its_module_and_holds_the_data_on_one_line(figure, tmp_path):
    opening, body, closing, *_ = as_directive(figure, tmp_path).splitlines()
    assert opening == "```{anywidget} ./attention.mjs"
    assert (tmp_path / "attention.mjs").read_text() == figure.module()
    assert json.loads(body) == {"data": figure.data}
    assert closing == "```"


@needs_myst
def test_myst_reads_the_figures_data_its_module_and_its_caption(figure, tmp_path):
    tree, public = made_by_myst(tmp_path, as_directive(figure, tmp_path))
    [widget] = nodes(tree, "anywidget")
    assert widget["model"] == {"data": json.loads(figure.json())}
    assert (public / widget["esm"].removeprefix("/")).read_text() == figure.module()
    [words] = nodes(tree, "paragraph")
    assert [(child["type"], child["value"]) for child in words["children"]] == [("text", CAPTION)]
