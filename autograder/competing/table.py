"""The result of a competition as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograder.competing.entry import Place, Task
from course.ladder.records import aligned

HEADINGS = ("", "entry", "bits/token", "known", "parameters", "CPU seconds")


def as_text(places: Sequence[Place], task: Task) -> str:
    """A table of those with a rank, the floor below them, and a line for each of the others."""
    ranked = [entry for entry in places if entry.bits_per_token is not None]
    lines = [HEADINGS, *(_cells(rank, entry) for rank, entry in enumerate(ranked, start=1))]
    table = aligned([*lines, ("", "floor (exact)", f"{task.floor:.3f}", "100.0%", "", "")], n_left=2)
    return "\n".join([table, *_without_rank(places)])


def _cells(rank: int, entry: Place) -> tuple[str, ...]:
    return (
        str(rank),
        entry.name,
        f"{entry.bits_per_token:.3f}",
        f"{entry.share_known:z.1%}",
        f"{entry.n_parameters:,}",
        f"{entry.cpu_seconds:.1f}",
    )


def _without_rank(places: Sequence[Place]) -> Iterator[str]:
    for entry in places:
        if entry.bits_per_token is None:
            yield f"–  {entry.name} {entry.problem}"
