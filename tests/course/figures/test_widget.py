"""A figure as an anywidget: what Python sends, and what the page does with it."""

import json
import subprocess
import sys

import pytest
import torch
from in_node import needs_node

from course import figures
from course.figures.widget import as_widget, live

WORDS = ["the", "cat", "sat"]

# A host with anywidget's contract; the figure notes what it is asked to draw, in place of drawing.
HOST = """
import widget from "./widget.mjs";
const values = { data: 1 }, listeners = {}, el = [];
const model = {
  get: (key) => values[key],
  on: (event, listener) => { listeners[event] = [...(listeners[event] ?? []), listener]; },
  off: (event, listener) => { listeners[event] = listeners[event].filter((other) => other !== listener); },
};
const change = (data) => {
  values.data = data;
  for (const listener of listeners["change:data"] ?? []) listener();
};
const clean = widget.render({ model, el });
change(2);
clean();
change(3);
console.log(JSON.stringify(el));
"""
FIGURE = "export default { render({ model, el }) { el.push(model.get('data')); } };"


@needs_node
def test_the_figure_is_drawn_at_once_and_after_each_change_until_its_view_is_gone(tmp_path):
    (tmp_path / "widget.mjs").write_text(live(FIGURE))
    (tmp_path / "host.mjs").write_text(HOST)
    run = subprocess.run(["node", "host.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert json.loads(run.stdout) == [1, 2], run.stderr


def test_python_sends_the_figures_data_and_one_module_without_imports():
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    figure = figures.attention(torch.eye(3), WORDS)
    state = as_widget(figure).get_state()
    assert state["data"] == figure.data
    assert state["_esm"] == live(figure.module())
    assert state["_esm"].count("export default") == 1


def test_two_figures_keep_their_own_modules():
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    first = as_widget(figures.attention(torch.eye(3), WORDS))
    second = as_widget(figures.embedding(torch.eye(3), WORDS))
    assert first.get_state()["_esm"] != second.get_state()["_esm"]


def test_without_anywidget_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match="pip install anywidget"):
        as_widget(figures.attention(torch.eye(3), WORDS))
