"""Put today's figures into a lecture's outputs, so that a figure can be fixed without running the lecture."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from html import escape

from course.figures.figure import Figure, identity, names, script
from course.figures.machine import machine
from course.figures.rungs import rungs
from course.figures.still import Still

FIGURE = re.compile(r'<figure id="figure-(?P<identity>[0-9a-f]{12})"')
SCRIPT = re.compile(
    r'<script type="module">\n.*?^const values = \{ data: (?P<data>[^\n]*) \};$.*?</script>', re.S | re.M
)
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
        figure = ladder = recorded_ladder(source)
        is_today = ladder is None or "<figcaption>" not in html or _words(html) == _words(_html(ladder))
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


def recorded_ladder(source: str) -> Still | None:
    """The ladder that ends a cell, if it shows nothing but the record; otherwise None."""
    if "figures.rungs(" not in source:
        return None
    last = ast.parse(source).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "figures.rungs":
        return None
    try:
        names = [ast.literal_eval(argument) for argument in call.args]
        return rungs(*names, **{str(each.arg): ast.literal_eval(each.value) for each in call.keywords})
    except ValueError:  # it depends on what the lecture has measured
        return None


def _html(figure: Still) -> str:
    return figure._repr_mimebundle_()["text/html"]


def _words(html: str) -> str:
    """A picture's words, without its pixels."""
    return re.sub(r'src="[^"]*"', "", html)


def with_todays_modules(output: Mapping) -> dict:
    """A notebook's output; if it is a figure, it runs the module that the course has today.

    Picture, caption and data stay as the lecture's run made them. If a figure's Python side gives different
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
