"""A machine of the course, drawn: boxes are tensors, lines are products or functions."""

from __future__ import annotations

from course.figures.figure import Figure, png
from course.figures.machines import MACHINES
from course.figures.machines.drawn import drawn
from course.figures.machines.layout import lay_out


def machine(name: str, **sizes: int) -> Figure:
    """Build a machine up step by step, and ask its tensors for their shapes and lines of code.

    name: one of `course.figures.machines.MACHINES`, such as "lstm_cell". sizes: B, T, D and other letters of
    the course, to replace the machine's own sizes; every shape follows from them.
    Raises ValueError for an unknown machine or size.
    """
    if name not in MACHINES:
        raise ValueError(f"{name!r}: expected one of {', '.join(MACHINES)}")
    described = MACHINES[name]
    all_sizes = described.with_sizes(**sizes)
    data = lay_out(described, all_sizes)
    letters = ", ".join(f"{letter} = {size}" for letter, size in all_sizes.items())
    letters = letters.replace("_k", "ₖ").replace("_x", "ₓ")  # a caption is plain text
    return Figure(
        name="machine",
        data=data,
        alt=f"{described.title}, built up. {' '.join(data['sentences'])}",
        caption=f"{described.finding} Here {letters}.",
        picture=png(drawn(data)),
    )
