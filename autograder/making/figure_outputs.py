"""Put today's figures into a lecture's outputs, so that a figure can be fixed without running the lecture."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from html import escape, unescape

from course import figures
from course.figures.figure import Figure, identity, names, script
from course.figures.machine import machine
from course.figures.rungs import rungs
from course.figures.still import Still

FIGURE = re.compile(r'<figure id="figure-(?P<identity>[0-9a-f]{12})"')
SCRIPT = re.compile(
    r'<script type="module">\n.*?^const values = \{ data: (?P<data>[^\n]*) \};$.*?</script>', re.S | re.M
)
MEASURED = re.compile(r"Measured on this page: (?P<told>[^\"]*)\.\"")
CAPTION = re.compile(r"<figcaption>(?P<said>.*?)</figcaption>", re.S)
DRAWING = re.compile(r'\s*figures\.machine\("(?P<name>\w+)"\)\s*')


def drawn_again(source: str, output: Mapping) -> dict:
    """An output of a cell with this source; a machine or a recorded ladder that has changed is drawn again.

    The drawing depends on the course alone, so its lecture need not be run.
    """
    asked, old = DRAWING.fullmatch(source), output.get("data", {}).get("text/html")
    if old is None:
        return dict(output)
    html = "".join(old)
    figure: Figure | Still | None
    if asked is None:
        figure = ladder = recorded_ladder(source, html)
        is_today = ladder is None or _words(html) == _words(_html(ladder))
    else:
        figure = drawing = machine(asked["name"])
        shown, is_said = SCRIPT.search(html), escape(drawing.caption) in html
        is_today = is_said and shown is not None and shown["data"] == drawing.json()
    if figure is None or is_today:
        return dict(output)
    today: dict[str, str | list[str]] = dict(figure._repr_mimebundle_())
    if not isinstance(old, str):
        today |= {kind: str(today[kind]).splitlines(keepends=True) for kind in ("text/html", "text/plain")}
    return {**output, "data": today}


def recorded_ladder(source: str, html: str) -> Still | None:
    """The ladder that ends a cell, from today's record; the page's own numbers are read in its words."""
    if "figures.rungs(" not in source or "as recorded" not in html:
        return None
    *before, last = ast.parse(source).body
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "figures.rungs":
        return None
    named = {ast.unparse(node.targets[0]): node.value for node in before if isinstance(node, ast.Assign)}
    names = [ast.literal_eval(argument) for argument in call.args]
    settings = {
        str(each.arg): ast.literal_eval(named.get(ast.unparse(each.value), each.value))
        for each in call.keywords
        if each.arg != "live"
    }
    measured = MEASURED.search(html)
    pairs = [pair.rpartition(" ") for pair in measured["told"].split(", ")] if measured else []
    return rungs(*names, **settings, live={name: float(bits) for name, _, bits in pairs})


def _html(figure: Still) -> str:
    return figure._repr_mimebundle_()["text/html"]


def _words(html: str) -> str:
    """A picture's words, without its pixels."""
    return re.sub(r'src="[^"]*"', "", html)


def with_todays_modules(output: Mapping) -> dict:
    """A notebook's output; if it is a figure, it runs the module that the course has today.

    Picture and data stay as the lecture's run made them. If a figure's Python side gives different
    data now, its lecture must be run again.
    """
    html = output.get("data", {}).get("text/html")
    if html is None:
        return dict(output)
    old = html if isinstance(html, str) else "".join(html)
    new = _mended(old)
    if new == old:
        return dict(output)
    text = new if isinstance(html, str) else new.splitlines(keepends=True)
    return {**output, "data": {**output["data"], "text/html": text}}


def _mended(html: str) -> str:
    figure, old = FIGURE.search(html), SCRIPT.search(html)
    if figure is None or old is None:
        return html
    data = old["data"]
    name = next((name for name in names() if identity(name, data) == figure["identity"]), None)
    return html if name is None else html[: old.start()] + script(name, data) + html[old.end() :]


def with_todays_caption(source: str, output: Mapping) -> dict:
    """An output of a cell with this source; a figure that is given no caption has the one of today."""
    data = output.get("data", {})
    html = "".join(data.get("text/html", ""))
    said = CAPTION.search(html)
    if not FIGURE.match(html) or said is None or "figures." not in source:
        return dict(output)
    calls = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Call)]
    shown = [each for each in calls if ast.unparse(each.func).startswith("figures.")]
    if len(shown) != 1 or any(each.arg in ("caption", None) for each in shown[0].keywords):
        return dict(output)
    makes = getattr(figures, ast.unparse(shown[0].func).removeprefix("figures."))
    today = inspect.signature(makes).parameters.get("caption")
    if today is None or escape(today.default) == said["said"]:
        return dict(output)
    new = {
        "text/html": html.replace(said[0], f"<figcaption>{escape(today.default)}</figcaption>", 1),
        "text/plain": "".join(data["text/plain"]).replace(unescape(said["said"]), today.default, 1),
    }
    kept = {
        kind: text if isinstance(data[kind], str) else text.splitlines(keepends=True)
        for kind, text in new.items()
    }
    return {**output, "data": {**data, **kept}}
