"""A figure as a widget in JupyterLab: it lives, and it follows what Python sets."""

import nbformat
import pytest
from nbformat import v4

NAME = "widgets/attention.ipynb"
SHOW = """\
import torch
from course import figures
shown = figures.as_widget(figures.attention(torch.eye(2), ["one", "two"]))
shown"""
CHANGE = 'shown.data = figures.attention(torch.eye(2).flip(0), ["one", "two"]).data'


@pytest.fixture
def opened(lab, lab_course):
    """The page with a notebook that shows a widget and another cell that changes it; nothing has run."""
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = v4.new_notebook(
        cells=[v4.new_code_cell(SHOW), v4.new_code_cell()], metadata={"kernelspec": kernel}
    )
    (lab_course / NAME).parent.mkdir(exist_ok=True)
    nbformat.write(content, lab_course / NAME)
    lab.open(NAME)
    return lab


def test_the_widget_is_the_figure_and_shows_what_python_sets(opened):
    opened.run_all()
    said = opened.page.locator(".jp-OutputArea .lmf [aria-live]")
    said.wait_for()
    assert "“one” attends most to “one”" in said.inner_text()
    opened.write(opened.cells.last, CHANGE)
    opened.run_all()
    assert "“one” attends most to “two”" in said.inner_text()
    assert opened.page.locator(".lmf").count() == 1
    assert opened.page.faults == []
