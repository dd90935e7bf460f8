"""Put today's figures into a lecture's outputs, so that a figure can be fixed without running the lecture."""

from __future__ import annotations

import re
from collections.abc import Mapping

from course.figures.figure import identity, names, script
from course.figures.machine import machine

FIGURE = re.compile(r'<figure id="figure-(?P<identity>[0-9a-f]{12})"')
SCRIPT = re.compile(
    r'<script type="module">\n.*?^const values = \{ data: (?P<data>[^\n]*) \};$.*?</script>', re.S | re.M
)
DRAWING = re.compile(r'\s*figures\.machine\("(?P<name>\w+)"\)\s*')


def drawn_again(source: str, output: Mapping) -> dict:
    """An output of a cell with this source; a machine that has changed since is drawn again.

    The drawing depends on the course alone, so its lecture need not be run.
    """
    asked, old = DRAWING.fullmatch(source), output.get("data", {}).get("text/html")
    if asked is None or old is None:
        return dict(output)
    figure, shown = machine(asked["name"]), SCRIPT.search("".join(old))
    if shown is not None and shown["data"] == figure.json():
        return dict(output)
    today: dict[str, str | list[str]] = dict(figure._repr_mimebundle_())
    if not isinstance(old, str):
        today |= {kind: str(today[kind]).splitlines(keepends=True) for kind in ("text/html", "text/plain")}
    return {**output, "data": today}


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
