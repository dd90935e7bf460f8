"""What a machine is, as data: tensors, the lines between them, and the steps in which it is built up.

Places are (column, row) on a grid; rows count from the bottom, because a text goes up through a network.
Names may have one subscript: `h_{t−1}`. A shape is written in the letters of the course: `B T N·d`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Place = tuple[float, float]

ROLES = ("input", "query", "key", "value", "residual", "state")


@dataclass(frozen=True)
class Box:
    """A tensor: its name and shape, and the line of `course/models` after which it exists.

    value: the tensor as an expression in the names of that line's function (`returned`: what the line
    returns); by default what stands left of the equals sign. words: what the cells of its strip are called;
    without words it has as many cells as the last axis is long. grid: a square of weights, with the axes
    that are its rows and columns, and "full" or "causal". Raises ValueError for a role that has no colour.
    """

    key: str
    name: str
    shape: str
    at: Place
    role: str
    code: str
    value: str = ""
    file: str = ""  # of course/models; by default the machine's
    words: tuple[str, ...] = ()
    grid: tuple[str, str, str] | None = None
    width: float = 0.0  # at least; in columns
    copies: str = ""  # the axis of which one slice is drawn in front of the others, as heads are

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"{self.key}: expected a role out of {', '.join(ROLES)}, got {self.role!r}")

    @property
    def axes(self) -> tuple[str, ...]:
        """The letters of the shape, axis by axis."""
        return tuple(self.shape.split())


@dataclass(frozen=True)
class Sign:
    """A circle in which lines meet: + or ⊙."""

    key: str
    text: str
    at: Place


@dataclass(frozen=True)
class Line:
    """A product or a function: it leads from the first to the last of the named parts or places of its path.

    label: what happens on the way. Where two points of the path are in line neither way, it turns once:
    sideways first, or up first if `turns_late`. label_on: which of its straight stretches carries the label,
    counted from 0, by default the longest.
    """

    path: tuple[str | Place, ...]
    label: str = ""
    role: str = "residual"
    side: str = ""  # of the label: "left", "right", "above" or "below"
    label_on: int | None = None
    is_dashed: bool = False
    has_head: bool = True
    turns_late: bool = False


@dataclass(frozen=True)
class Region:
    """A frame around parts that belong together, with a name in one of its lower corners."""

    name: str
    lower_left: Place
    upper_right: Place
    is_named_left: bool = False


Part = Box | Sign | Line | Region


@dataclass(frozen=True)
class Step:
    """A sentence, and what it adds to the drawing."""

    sentence: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Machine:
    """A machine of the course. finding: what its caption says first.

    file: the file of `course/models` whose lines its boxes quote. sizes: letter → size of an axis, for shapes
    and strips. derived: letters that follow from others, as d_k from ("D", "H"), the first divided by the
    second. pitch: the width of a column and the height of a row, in pixels.
    """

    title: str
    finding: str
    file: str
    sizes: Mapping[str, int]
    steps: tuple[Step, ...]
    pitch: Place = (100.0, 80.0)
    derived: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def parts(self) -> Iterator[tuple[int, Part]]:
        """Every part with the number of its step."""
        for number, step in enumerate(self.steps):
            for part in step.parts:
                yield number, part

    def boxes(self) -> list[Box]:
        """The tensors, in the order of the steps."""
        return [part for _, part in self.parts() if isinstance(part, Box)]

    def with_sizes(self, **changes: int) -> dict[str, int]:
        """The sizes, with some changed. Raises ValueError for a letter that it has not, or a size below 1."""
        for letter, size in changes.items():
            if letter not in self.sizes:
                raise ValueError(f"{letter}: expected one of {', '.join(self.sizes)}")
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"{letter}: expected a whole number of at least 1, got {size!r}")
        sizes = {**self.sizes, **changes}
        for letter, (whole, parts) in self.derived.items():
            if sizes[whole] % sizes[parts] != 0:
                raise ValueError(
                    f"{whole}: expected a multiple of {parts} = {sizes[parts]}, got {sizes[whole]}"
                )
            sizes[letter] = sizes[whole] // sizes[parts]
        return sizes


def size_of(axis: str, sizes: Mapping[str, int]) -> int:
    """The size of one axis: a number, a letter, or a sum of products of them, as in "D+2·M"."""
    return sum(
        math.prod(int(factor) if factor.isdigit() else sizes[factor] for factor in term.split("·"))
        for term in axis.split("+")
    )
