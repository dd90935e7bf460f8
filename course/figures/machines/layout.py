"""From a machine's description to places in pixels, the same for the page and for the still picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from course.figures.machines.description import Box, Line, Machine, Place, Region, Sign, size_of

MARGIN = 14.0
RADIUS = 12.0  # of a sign
CORNER = 9.0  # of a line that turns
MOST_CELLS = 24  # of a strip; what is longer is drawn as one bar
CELL = 9.0
MOST_COPIES = 4


def lay_out(machine: Machine, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The JSON that the module draws: boxes, signs, lines and regions, each with the number of its step."""
    drawing = Drawing(machine, sizes)
    return {
        "title": machine.title,
        "width": drawing.width,
        "height": drawing.height,
        "sentences": [step.sentence for step in machine.steps],
        "sizes": dict(sizes),
        "regions": [drawing.region(step, part) for step, part in machine.parts() if isinstance(part, Region)],
        "lines": [drawing.line(step, part) for step, part in machine.parts() if isinstance(part, Line)],
        "signs": [drawing.sign(step, part) for step, part in machine.parts() if isinstance(part, Sign)],
        "boxes": [drawing.box(step, part) for step, part in machine.parts() if isinstance(part, Box)],
    }


class Drawing:
    """A machine's parts by name, with the rectangle (x, y, width, height) that each takes."""

    def __init__(self, machine: Machine, sizes: Mapping[str, int]) -> None:
        self.machine, self.sizes = machine, sizes
        parts = [part for _, part in machine.parts()]
        self.parts = {part.key: part for part in parts if isinstance(part, Box | Sign)}
        self.origin = (0.0, 0.0)
        edges = [self.rectangle(part) for part in self.parts.values()]
        for part in parts:
            if isinstance(part, Region):
                (x0, y0), (x1, y1) = self.pixel(part.lower_left), self.pixel(part.upper_right)
                edges.append((x0, y1, x1 - x0, y0 - y1))
            elif isinstance(part, Line):
                edges += [(*self.pixel(place), 0.0, 0.0) for place in part.path if not isinstance(place, str)]
                edges += self.written(part)
        left, top = min(x for x, *_ in edges), min(y for _, y, *_ in edges)
        self.origin = (MARGIN - left, MARGIN - top)
        self.width = round(max(x + w for x, _, w, _ in edges) - left + 2 * MARGIN)
        self.height = round(max(y + h for _, y, _, h in edges) - top + 2 * MARGIN)

    def written(self, line: Line) -> list[tuple[float, float, float, float]]:
        """The rectangle of a line's label, if it has one."""
        label = self.label(line)
        if label is None:
            return []
        (x, y), wide = label["place"], 7.2 * len(plain(line.label))
        return [(x - wide * {"start": 0, "middle": 0.5, "end": 1}[label["anchor"]], y - 10, wide, 14)]

    def pixel(self, place: Place) -> Place:
        (column, row), (wide, high) = place, self.machine.pitch
        return self.origin[0] + column * wide, self.origin[1] - row * high

    def rectangle(self, part: Box | Sign) -> tuple[float, float, float, float]:
        x, y = self.pixel(part.at)
        w, h = (2 * RADIUS, 2 * RADIUS) if isinstance(part, Sign) else self.extent(part)
        return x - w / 2, y - h / 2, w, h

    def extent(self, box: Box) -> Place:
        """The width and height that a box needs for its name, its shape in letters or numbers, its cells."""
        _, rows = self.cells(box)
        texts = [8.6 * len(plain(box.name)), 6.9 * max(len(plain(self.shape(box))), len(self.numbers(box)))]
        width = max(
            48.0, self.strip(box) + 14, *(text + 18 for text in texts), box.width * self.machine.pitch[0]
        )
        return width, 42.0 + (rows * CELL + 7 if box.grid else 22.0 if box.words else 14.0)

    def cells(self, box: Box) -> tuple[int, int]:
        """How many cells are drawn in a box: columns and rows."""
        if box.grid:
            return size_of(box.grid[1], self.sizes), size_of(box.grid[0], self.sizes)
        if box.words:
            return len(box.words), 1
        return size_of(box.axes[-1], self.sizes), 1

    def strip(self, box: Box) -> float:
        """The width of a box's cells."""
        columns, _ = self.cells(box)
        if box.words:
            return len(box.words) * (7.4 * max(map(len, box.words)) + 12)
        return CELL * min(columns, MOST_CELLS)

    def shape(self, box: Box) -> str:
        return f"({', '.join(axis.replace('+', ' + ') for axis in box.axes)})"

    def numbers(self, box: Box) -> str:
        return f"({', '.join(str(size_of(axis, self.sizes)) for axis in box.axes)})"

    def box(self, step: int, box: Box) -> dict[str, Any]:
        x, y, w, h = map(rounded, self.rectangle(box))
        columns, rows = self.cells(box)
        return {
            "key": box.key,
            "step": step,
            "name": box.name,
            "role": box.role,
            "place": [x, y, w, h],
            "shape": self.shape(box),
            "numbers": self.numbers(box),
            "code": box.code,
            "file": f"course/models/{box.file or self.machine.file}.py",
            "copies": min(size_of(box.copies, self.sizes), MOST_COPIES) if box.copies else 1,
            "words": list(box.words),
            "cells": [columns if columns <= MOST_CELLS else 1, rows],
            "strip": rounded(self.strip(box)),
            "isCausal": box.grid is not None and box.grid[2] == "causal",
            "isSquare": bool(box.grid),
        }

    def sign(self, step: int, sign: Sign) -> dict[str, Any]:
        x, y = map(rounded, self.pixel(sign.at))
        return {"step": step, "text": sign.text, "place": [x, y], "radius": RADIUS}

    def region(self, step: int, region: Region) -> dict[str, Any]:
        (x0, y0), (x1, y1) = self.pixel(region.lower_left), self.pixel(region.upper_right)
        x, anchor = (x0 + 10, "start") if region.is_named_left else (x1 - 10, "end")
        return {
            "step": step,
            "place": [*map(rounded, (x0, y1, x1 - x0, y0 - y1))],
            "label": {"text": region.name, "place": [rounded(x), rounded(y0 - 9)], "anchor": anchor},
        }

    def line(self, step: int, line: Line) -> dict[str, Any]:
        points = self.points(line)
        return {
            "step": min([step, *self.leaving(points)]),
            "role": line.role,
            "path": rounded_path(points),
            "head": head(points[-2], points[-1]) if line.has_head else "",
            "dashed": line.is_dashed,
            "label": self.label(line),
        }

    def leaving(self, points: Sequence[Place]) -> Iterator[int]:
        """The steps in which other lines leave a line of these corners between its ends."""
        for step, part in self.machine.parts():
            if isinstance(part, Line) and not isinstance(part.path[0], str):
                start = self.pixel(part.path[0])
                if any(lies_between(start, *stretch) for stretch in pairwise(points)):
                    yield step

    def label(self, line: Line) -> dict[str, Any] | None:
        """The text beside a line, if it has one, and where it stands."""
        if not line.label:
            return None
        stretches = list(pairwise(self.points(line)))
        longest = max(range(len(stretches)), key=lambda i: math.dist(*stretches[i]))
        chosen = longest if line.label_on is None else line.label_on
        return beside(*stretches[chosen], line.label, line.side)

    def points(self, line: Line) -> list[Place]:
        """The corners of a line from edge to edge, with every stretch either level or upright."""
        centres = [self.pixel(self.parts[at].at if isinstance(at, str) else at) for at in line.path]
        corners = [centres[0]]
        for (x0, y0), (x1, y1) in pairwise(centres):
            if abs(x0 - x1) > 0.5 and abs(y0 - y1) > 0.5:
                corners.append((x0, y1) if line.turns_late else (x1, y0))
            corners.append((x1, y1))
        for end, inside in ((0, 1), (-1, -2)):
            if isinstance(name := line.path[end], str):
                part = self.parts[name]
                corners[end] = edge(self.rectangle(part), corners[end], corners[inside])
        return [
            corner for i, corner in enumerate(corners) if i == 0 or math.dist(corner, corners[i - 1]) > 0.5
        ]


def lies_between(place: Place, start: Place, end: Place) -> bool:
    """Whether a place lies on a level or upright line."""
    return all(min(a, b) - 0.5 < at < max(a, b) + 0.5 for at, a, b in zip(place, start, end, strict=True))


def edge(rectangle: tuple[float, float, float, float], centre: Place, towards: Place) -> Place:
    """Where the line from the middle of a rectangle, level or upright, leaves it."""
    x, y, w, h = rectangle
    if abs(centre[0] - towards[0]) < abs(centre[1] - towards[1]):
        return (towards[0], y if towards[1] < centre[1] else y + h)
    return (x if towards[0] < centre[0] else x + w, towards[1])


def rounded_path(points: Sequence[Place]) -> str:
    """An SVG path through the points, with round corners."""
    commands = [f"M {rounded(points[0][0])} {rounded(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        start, end = towards(corner, before, radius), towards(corner, after, radius)
        commands.append(f"L {rounded(start[0])} {rounded(start[1])}")
        commands.append(f"Q {rounded(corner[0])} {rounded(corner[1])} {rounded(end[0])} {rounded(end[1])}")
    commands.append(f"L {rounded(points[-1][0])} {rounded(points[-1][1])}")
    return " ".join(commands)


def towards(start: Place, end: Place, length: float) -> Place:
    """The point on the way to `end` at this distance from `start`."""
    share = length / max(math.dist(start, end), 1e-9)
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def head(before: Place, tip: Place, length: float = 8.0) -> str:
    """An arrow head as an SVG path."""
    base = towards(tip, before, length)
    across = ((base[1] - tip[1]) * 0.45, (tip[0] - base[0]) * 0.45)
    corners = (tip, (base[0] + across[0], base[1] + across[1]), (base[0] - across[0], base[1] - across[1]))
    return "M " + " L ".join(f"{rounded(x)} {rounded(y)}" for x, y in corners) + " Z"


def beside(start: Place, end: Place, text: str, side: str) -> dict[str, Any]:
    """A label beside the middle of a level or an upright stretch."""
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    is_level = abs(start[1] - end[1]) < 0.5
    side = side or ("above" if is_level else "right")
    offsets = {
        "above": (0, -7, "middle"),
        "below": (0, 16, "middle"),
        "right": (8, 4, "start"),
        "left": (-8, 4, "end"),
    }
    dx, dy, anchor = offsets[side]
    return {"text": text, "place": [rounded(x + dx), rounded(y + dy)], "anchor": anchor}


def plain(name: str) -> str:
    """A name without the marks of its subscript."""
    return name.replace("_", "").replace("{", "").replace("}", "")


def rounded(number: float) -> float:
    return round(number, 1)
