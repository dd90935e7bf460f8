"""A figure on a page that MyST made, in a host that does what MyST's theme does with the directive."""

import json
import re

import pytest
import torch

from course import figures
from tests.course.figures.in_myst import made_by_myst, needs_myst, nodes

# The theme imports the module by its address and hands it a shadow root and a model that tells of changes.
HOST = """<!doctype html><meta charset="utf-8"><body><div id="host"></div><script type="module">
const { esm, model: values } = WIDGET;
const target = new EventTarget();
const missing = (name) => () => { throw new Error(`${name} is not there`); };
const model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; target.dispatchEvent(new CustomEvent(`change:${name}`)); },
  on: (name, listener) => target.addEventListener(name, listener),
  off: missing("off"), save_changes: missing("save_changes"), send: missing("send"),
};
const widget = (await import(esm)).default;
await widget.initialize?.({ model });
const el = document.createElement("div");
document.getElementById("host").attachShadow({ mode: "open" }).replaceChildren(el);
await widget.render?.({ model, el });
</script>"""


@needs_myst
def test_the_figure_lives_in_the_shadow_root_of_a_myst_page(page, serve, tmp_path):
    weights = torch.randn(3, 3, generator=torch.Generator().manual_seed(0)).softmax(-1)
    figure = figures.attention(weights, ["a", "b", "c"])
    tree, public = made_by_myst(tmp_path, figures.as_directive(figure, tmp_path))
    [widget] = nodes(tree, "anywidget")
    (public / "page.html").write_text(HOST.replace("WIDGET", json.dumps(widget)))
    page.goto(f"{serve(public)}/page.html")
    said = page.locator(".lmf [aria-live]")
    for query, most in enumerate(weights.max(-1).values.tolist()):
        page.locator("input[type=range]").fill(str(query))
        assert float(re.search(r"\((\d\.\d+)\)", said.inner_text())[1]) == pytest.approx(most, abs=6e-4)
    assert page.locator("#host").evaluate("host => host.shadowRoot.querySelectorAll('svg rect').length") > 9
    assert page.asked == []
    assert page.faults == []
