"""The README's pictures: a check that fails, the ladder, the report on a class.

python -m autograder.sample.pictures    draws all three into docs/pictures
"""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from unittest.mock import patch

from autograder.marks.records import HomeworkRecord
from autograder.reporting.class_statistics import class_statistics, histogram
from autograder.sample.demo import demo
from autograder.source.homework import HomeworkSource
from autograder.source.loading import load
from autograder.website.failing_check import WRONG, message
from course.ladder import read_recorded, summaries

WIDTH, LINE = 760, 19  # pixels
BLUE, ORANGE, RED, INK, QUIET = "#0072b2", "#b35900", "#d9484a", "#1b1f24", "#57606a"
DEMONSTRATED = Path("tests/autograder/mini_homework")


def failing_check(root: Path) -> str:
    """An answer that forgets the root of the width, and what its checks say, as SVG."""
    code = [(line, INK, False) for line in WRONG.splitlines()]
    told = [(line, *_style(each)) for each in message(root).splitlines() for line in _wrapped(each)]
    return _card([*code, ("", INK, False), *told], "A check that fails and names the mistake")


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, 92) or [""]


def _style(line: str) -> tuple[str, bool]:
    """A line's colour, and whether it is bold, as failures and the mistake's name are."""
    if line.startswith("✗"):
        return RED, False
    return (BLUE, True) if line.startswith("The scores are not") else (INK, False)


def ladder() -> str:
    """Bits per token of every recorded rung above the floor, as SVG."""
    rungs = [each for each in summaries(read_recorded()) if each.title not in ("uniform", "unigram")]
    floor = read_recorded()[0].floor
    most, room, left = max(rung.bits_per_token for rung in rungs), 480, 130
    parts, y = (
        [_text(20, 32, "Bits per word of every model, above the floor that none can pass", INK, True)],
        62,
    )
    for rung in rungs:
        to_floor, whole = room * floor / most, room * rung.bits_per_token / most
        parts += [
            _text(20, y + 11, rung.title, INK),
            _rect(left, y, to_floor, 14, "#d0d7de"),
            _rect(left + to_floor, y, whole - to_floor, 14, BLUE),
            _text(left + whole + 10, y + 11, f"{rung.bits_per_token:.2f}", INK),
        ]
        y += 26
    x = left + room * floor / most
    parts += [
        f'<path d="M{x:.1f} 50V{y}" stroke="{ORANGE}" stroke-width="2" stroke-dasharray="6 4"/>',
        _text(x + 8, y + 6, f"the floor, {floor:.2f}: the language’s own entropy", ORANGE),
    ]
    return _svg(parts, y + 26, "Bits per word of every model above the floor")


def class_report(record: HomeworkRecord, homework: HomeworkSource) -> str:
    """Marks of a class by tenths, and the mistakes that most students make, as SVG."""
    counted = class_statistics(record, homework)
    tenths = histogram(counted.points, counted.max_points)
    heading = f"{len(record.submissions)} submissions · median {counted.median:g} of {counted.max_points:g}"
    parts = [_text(20, 32, heading, INK, True)]
    for i, count in enumerate(tenths):
        height = 70 * count / max(tenths)
        parts += [
            _rect(20 + 44 * i, 130 - height, 36, height, BLUE),
            _text(20 + 44 * i, 148, f"{10 * i} %", QUIET),
        ]
    parts.append(_text(20, 190, "Worth discussing in class", INK, True))
    y = 216
    for exercise, mistake in counted.commonest(3):
        parts.append(_text(20, y, f"{len(mistake.students)} students · {exercise.title}", QUIET))
        for line in textwrap.wrap(mistake.diagnosis, 95):
            y += LINE
            parts.append(_text(20, y, line, INK))
        y += 28
    return _svg(parts, y, "The report on a class")


def graded_class(root: Path, place: Path) -> tuple[HomeworkRecord, HomeworkSource]:
    """The demonstration's class, graded in `place`, in the sandbox as everywhere."""
    for name in ("nbgrader_config.py", "pyproject.toml"):
        (place / name).symlink_to(root / name)
    (place / "solutions").mkdir()
    (place / "solutions" / DEMONSTRATED.name).symlink_to(root / DEMONSTRATED)
    record = demo(place, homework=DEMONSTRATED.name)
    return record, load(place / "demo" / "solutions" / DEMONSTRATED.name)


def _card(lines: Sequence[tuple[str, str, bool]], title: str) -> str:
    parts, y = [], 30
    for line, colour, bold in lines:
        parts.append(_text(20, y, line, colour, bold, mono=True))
        y += LINE
    return _svg(parts, y, title)


def _text(x: float, y: float, text: str, colour: str, bold: bool = False, *, mono: bool = False) -> str:
    family = "ui-monospace, Menlo, Consolas, monospace" if mono else "system-ui, sans-serif"
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-family="{family}" font-size="13"{weight}'
        f' xml:space="preserve">{escape(text, quote=False)}</text>'
    )


def _rect(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" fill="{colour}"/>'


def _svg(parts: Iterable[str], height: float, title: str) -> str:
    size = f'width="{WIDTH - 1}" height="{height - 1:.0f}"'
    ground = f'<rect x="0.5" y="0.5" {size} rx="8" fill="#fff" stroke="#d0d7de"/>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" role="img">',
            f"<title>{title}</title>",
            ground,
            *parts,
            "</svg>",
            "",
        ]
    )


def drawn(root: Path) -> Iterator[tuple[str, str]]:
    """Each picture's file name and SVG."""
    yield "failing_check.svg", failing_check(root)
    yield "ladder.svg", ladder()
    with tempfile.TemporaryDirectory() as place, patch("builtins.print"):
        graded = graded_class(root, Path(place))
        yield "class_report.svg", class_report(*graded)


def main(root: Path) -> None:
    """Draw all pictures."""
    folder = root / "docs" / "pictures"
    folder.mkdir(exist_ok=True)
    for name, svg in drawn(root):
        (folder / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(Path.cwd())
