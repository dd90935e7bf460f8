"""A machine as a matplotlib drawing, for viewers that run no scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

COLOURS = {
    "input": "#57606a",
    "query": "#0072b2",
    "key": "#b35900",
    "value": "#00795a",
    "residual": "#1b1f24",
    "state": "#8a3f97",
}
DOTS = 80  # per inch
ALIGNED = {"start": "left", "middle": "center", "end": "right"}


def drawn(data: Mapping[str, Any]):
    """The whole machine; data: what `lay_out` gives."""
    import matplotlib.pyplot as plt

    width, height = data["width"], data["height"]
    drawing = plt.figure(figsize=(width / DOTS, height / DOTS))
    axes = drawing.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for region in data["regions"]:
        x, y, w, h = region["place"]
        rectangle(axes, (x, y, w, h), "#f6f7f9", "#8c959f", linestyle=":")
        label(axes, region["label"], "#57606a")
    for line in data["lines"]:
        stroke(axes, line)
    for sign in data["signs"]:
        x, y = sign["place"]
        axes.add_patch(plt.Circle((x, y), sign["radius"], facecolor="white", edgecolor="#1b1f24", zorder=3))
        text(axes, x, y + 4.5, sign["text"], "#1b1f24", 11)
    for box in data["boxes"]:
        x, y, w, h = box["place"]
        colour = COLOURS[box["role"]]
        for by in range(4 * (box["copies"] - 1), 0, -4):
            rectangle(axes, (x + by, y - by, w, h), "white", colour)
        rectangle(axes, (x, y, w, h), "white", colour)
        rectangle(axes, (x, y, w, h), colour, "none", alpha=0.07)
        text(axes, x + w / 2, y + 18, box["name"], colour, 10)
        text(axes, x + w / 2, y + 34, box["shape"], "#57606a", 7.5)
        cells(axes, box, colour)
    return drawing


def cells(axes, box: Mapping[str, Any], colour: str) -> None:
    """The strip, the words or the square of weights in a box."""
    (x, y, w, h), (columns, rows), words = box["place"], box["cells"], box["words"]
    high = 17 if words else 9 if box["isSquare"] else 8
    for row in range(rows):
        for column in range(columns):
            wide = box["strip"] / columns
            left, top = x + (w - box["strip"]) / 2 + column * wide, y + h - 6 - (rows - row) * high
            is_shut = box["isCausal"] and column > row
            strength = 0.0 if is_shut else 0.14 if words else 0.45
            rectangle(
                axes, (left + 0.5, top + 0.5, wide - 1, high - 1), colour, "none", alpha=strength, corner=1
            )
            if words:
                text(axes, left + wide / 2, top + 12.5, words[column], "#1b1f24", 8)


def stroke(axes, line: Mapping[str, Any]) -> None:
    """A line, its head and its label."""
    from matplotlib.patches import PathPatch

    colour = COLOURS[line["role"]]
    dashes = (0, (4, 3)) if line["dashed"] else "solid"
    axes.add_patch(
        PathPatch(path(line["path"]), facecolor="none", edgecolor=colour, linewidth=1.3, linestyle=dashes)
    )
    if line["head"]:
        axes.add_patch(PathPatch(path(line["head"]), facecolor=colour, edgecolor="none"))
    if line["label"]:
        label(axes, line["label"], colour)


def label(axes, given: Mapping[str, Any], colour: str) -> None:
    """The name of a region, or of what a line does."""
    x, y = given["place"]
    text(axes, x, y, given["text"], colour, 8.5, given["anchor"])


def path(commands: str):
    """A matplotlib path from SVG's commands M, L, Q and Z."""
    from matplotlib.path import Path

    kinds = {"M": [Path.MOVETO], "L": [Path.LINETO], "Q": [Path.CURVE3] * 2, "Z": [Path.CLOSEPOLY]}
    points, codes = [], []
    for command, numbers in re.findall(r"([MLQZ])([^MLQZ]*)", commands):
        values = [float(number) for number in numbers.split()] or [0.0, 0.0]
        points += list(zip(values[::2], values[1::2], strict=True))
        codes += kinds[command]
    return Path(points, codes)


def rectangle(axes, place: tuple, face: str, edge: str, *, corner: float = 5, **more) -> None:
    """A rectangle with round corners; place: x, y, width, height."""
    from matplotlib.patches import FancyBboxPatch

    x, y, w, h = place
    style = f"round,pad=0,rounding_size={corner}"
    axes.add_patch(FancyBboxPatch((x, y), w, h, boxstyle=style, facecolor=face, edgecolor=edge, **more))


def text(axes, x: float, y: float, words: str, colour: str, size: float, anchor: str = "middle") -> None:
    """Words on their baseline; `h_{t−1}` gets its subscript."""
    marked = re.sub(r"_(?:\{([^}]*)\}|(\S))", lambda m: f"$_{{\\mathrm{{{m[1] or m[2]}}}}}$", words)
    axes.text(x, y, marked, color=colour, fontsize=size, ha=ALIGNED[anchor], va="baseline", zorder=4)
