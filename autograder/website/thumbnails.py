"""One small drawing for each lecture: its idea in a few boxes, dots and lines."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from markupsafe import Markup

WIDTH, HEIGHT = 120, 60
BLUE, ORANGE, GREEN, INK, GREY = "blue", "orange", "green", "ink", "grey"


def box(x: float, y: float, width: float, height: float, colour: str = BLUE) -> str:
    """A filled rectangle; pixels from the upper left corner, as everywhere here."""
    return f'<rect class="{colour}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="1.5"/>'


def dot(x: float, y: float, colour: str = BLUE, radius: float = 4) -> str:
    """A filled circle."""
    return f'<circle class="{colour}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'


def line(*points: tuple[float, float], colour: str = INK, dashed: bool = False) -> str:
    """A line through points."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline class="line {colour}{" dashed" if dashed else ""}" points="{path}"/>'


def bars(heights: Iterable[float], colours: Iterable[str], x: float = 20, step: float = 12) -> list[str]:
    """Bars on a common baseline."""
    pairs = zip(heights, colours, strict=False)
    return [
        box(x + i * step, 52 - height, step - 3, height, colour) for i, (height, colour) in enumerate(pairs)
    ]


def _welcome() -> list[str]:
    words = [box(10 + 20 * i, 26, 15, 9, INK) for i in range(3)]
    return [*words, *(box(76, 12 + 13 * i, width, 8, BLUE) for i, width in enumerate((36, 18, 7)))]


def _chain() -> list[str]:
    parts = [box(8 + 28 * i, 12 + 7 * i, 20, 10, BLUE) for i in range(4)]
    return [*parts, *(line((18 + 28 * i, 22 + 7 * i), (28 + 28 * i, 24 + 7 * i)) for i in range(3))]


def _ngrams() -> list[str]:
    return [box(10 + 17 * i, 26, 13, 9, BLUE if 3 <= i < 5 else ORANGE if i == 5 else GREY) for i in range(6)]


def _perplexity() -> list[str]:
    curve = [(10 + 10 * i, 10 + 34 * (1 - 0.68**i)) for i in range(11)]
    return [line(*curve, colour=BLUE), line((10, 50), (112, 50), dashed=True)]


def _tokens() -> list[str]:
    widths = (26, 12, 20, 9, 17)
    starts = [10 + sum(widths[:i]) + 4 * i for i in range(5)]
    colours = (BLUE, ORANGE, BLUE, GREEN, ORANGE)
    return [box(x, 25, width, 11, colour) for x, width, colour in zip(starts, widths, colours, strict=True)]


def _feedforward() -> list[str]:
    layers = [(24, (14, 30, 46), BLUE), (60, (8, 23, 38, 53), GREY), (96, (22, 38), ORANGE)]
    lines = [
        line((x, y), (further, there), colour=GREY)
        for (x, ys, _), (further, theirs, _) in pairwise(layers)
        for y in ys
        for there in theirs
    ]
    return [*lines, *(dot(x, y, colour) for x, ys, colour in layers for y in ys)]


def _backprop() -> list[str]:
    nodes = [dot(18 + 28 * i, 22, BLUE, 5) for i in range(4)]
    back = line((104, 44), (16, 44), (22, 39), colour=ORANGE)
    return [line((18, 22), (102, 22)), *nodes, back, line((16, 44), (22, 49), colour=ORANGE)]


def _recurrent() -> list[str]:
    cells = [box(12 + 27 * i, 22, 16, 16, BLUE) for i in range(4)]
    words = [line((20 + 27 * i, 50), (20 + 27 * i, 38), colour=ORANGE) for i in range(4)]
    return [line((12, 30), (112, 30)), *cells, *words, *(dot(20 + 27 * i, 52, ORANGE, 3) for i in range(4))]


def _vanishing() -> list[str]:
    return bars([44 * 0.62**i for i in range(8)], [ORANGE] * 8, x=14)


def _gates() -> list[str]:
    ways = [line((x, 46), (x, 18), colour=GREY) for x in (34, 60, 86)]
    return [line((8, 18), (112, 18), colour=GREEN), *ways, dot(34, 18, INK), dot(60, 18, INK), *(
        box(x - 6, 40, 12, 12, ORANGE) for x in (34, 60, 86)
    )]  # fmt: skip


def _sequence() -> list[str]:
    reads = [box(8 + 13 * i, 24, 10, 12, BLUE) for i in range(3)]
    writes = [box(76 + 13 * i, 24, 10, 12, GREEN) for i in range(3)]
    return [line((46, 30), (76, 30)), *reads, dot(60, 30, INK, 5), *writes]


def _attention() -> list[str]:
    strengths = (GREY, GREY, ORANGE, GREY, BLUE)
    looks = [line((18 + 21 * i, 16), (60, 46), colour=each) for i, each in enumerate(strengths)]
    return [
        *looks,
        *(box(12 + 21 * i, 8, 12, 10, each) for i, each in enumerate(strengths)),
        dot(60, 48, INK, 5),
    ]


def _triangle() -> list[str]:
    marks = {(3, 0): BLUE, (4, 2): BLUE, (2, 1): BLUE, (1, 1): BLUE, (0, 0): BLUE}
    return [
        box(36 + 10 * column, 5 + 10 * row, 8, 8, marks.get((row, column), GREY))
        for row in range(5)
        for column in range(row + 1)
    ]


def _heads() -> list[str]:
    chosen = ({(0, 0), (1, 0), (2, 1)}, {(0, 0), (1, 1), (2, 0)}, {(0, 0), (1, 1), (2, 2)})
    colours = (BLUE, ORANGE, GREEN)
    return [
        box(
            10 + 36 * head + 9 * column,
            17 + 9 * row,
            7,
            7,
            colours[head] if (row, column) in chosen[head] else GREY,
        )
        for head in range(3)
        for row in range(3)
        for column in range(row + 1)
    ]


def _block() -> list[str]:
    first = line((28, 44), (28, 16), (56, 16), (56, 44), colour=BLUE)
    second = line((68, 44), (68, 16), (96, 16), (96, 44), colour=ORANGE)
    return [line((8, 44), (112, 44)), first, second, box(32, 9, 20, 14, BLUE), box(72, 9, 20, 14, ORANGE)]


def _decoder() -> list[str]:
    words = [box(8 + 22 * i, 42, 14, 9, INK) for i in range(5)]
    looks = [line((15 + 22 * i, 42), (103, 18), colour=BLUE) for i in range(5)]
    return [*looks, *words, box(96, 9, 14, 9, ORANGE)]


def _generation() -> list[str]:
    heights = (44, 30, 19, 11, 7, 5, 3)
    return [
        *bars(heights, [BLUE] * 3 + [GREY] * 4, x=18),
        line((52.5, 6), (52.5, 54), colour=ORANGE, dashed=True),
    ]


def _bert() -> list[str]:
    words = [box(10 + 22 * i, 38, 15, 10, ORANGE if i == 2 else BLUE) for i in range(5)]
    looks = [
        line((17 + 22 * i, 38), (17 + 22 * i, 18), (61, 18), (61, 38), colour=GREY) for i in (0, 1, 3, 4)
    ]
    return [*looks, *words]


def _translation() -> list[str]:
    order = (0, 2, 1, 3)
    ties = [line((18 + 28 * i, 18), (18 + 28 * j, 42), colour=GREY) for i, j in enumerate(order)]
    rows = [box(9 + 28 * i, y, 18, 9, colour) for y, colour in ((9, BLUE), (42, GREEN)) for i in range(4)]
    return [*ties, *rows]


def _ladder() -> list[str]:
    steps = [
        (8, 10),
        (26, 10),
        (26, 20),
        (44, 20),
        (44, 28),
        (62, 28),
        (62, 36),
        (80, 36),
        (80, 46),
        (112, 46),
    ]
    return [line(*steps, colour=BLUE), line((8, 51), (112, 51), dashed=True)]


DRAWINGS = {
    "00": _welcome, "01": _chain, "02": _ngrams, "03": _perplexity, "04": _tokens, "05": _feedforward,
    "06": _backprop, "07": _recurrent, "08": _vanishing, "09": _gates, "10": _sequence, "11": _attention,
    "12": _triangle, "13": _heads, "14": _block, "15": _decoder, "16": _generation, "17": _bert,
    "18": _translation, "19": _ladder,
}  # fmt: skip


def thumbnail(lecture: str) -> Markup:
    """The drawing of a lecture, `12_self_attention`, as an SVG element that screen readers skip.

    Raises KeyError for a lecture without a drawing.
    """
    shapes = "".join(DRAWINGS[lecture[:2]]())
    return Markup(f'<svg class="thumbnail" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{shapes}</svg>')
