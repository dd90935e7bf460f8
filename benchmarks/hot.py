"""The hottest functions of a profile, as lines of a table."""

from __future__ import annotations

import pstats
from collections.abc import Iterable, Iterator
from pathlib import Path

Place = tuple[str, int, str]  # file, line, function, as cProfile has them
ROOT = Path(__file__).resolve().parents[1]


def hottest(stats: pstats.Stats, number: int = 10, *, without: Iterable[str] = ()) -> Iterator[str]:
    """The functions with the most time of their own: seconds, percentage of all time, calls, name.

    without: names of functions to leave out because they only wait.
    """
    counted = {place: entry for place, entry in stats.stats.items() if place[2] not in set(without)}
    total = sum(own for _, _, own, _, _ in counted.values())
    by_own = sorted(counted.items(), key=lambda item: item[1][2], reverse=True)
    for place, (_, calls, own, _, _) in by_own[:number]:
        yield f"{own:>8.2f} s {own / total:>6.1%} {calls:>10,}  {in_words(place)}"


def in_words(place: Place) -> str:
    """A function and its file, without the folders of this machine."""
    file, line, function = place
    path = Path(file)
    if file == "~":
        return function
    if path.is_relative_to(ROOT):
        return f"{function}, {path.relative_to(ROOT)}:{line}"
    inside = path.parts[path.parts.index("site-packages") + 1 :] if "site-packages" in path.parts else ()
    return f"{function}, {'/'.join(inside) or path.name}:{line}"
