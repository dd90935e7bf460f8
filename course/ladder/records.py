"""Results over several seeds as a table, as JSON, and as a page of the documentation."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean

import torch

from course.ladder.climb import Result
from course.ladder.rungs import RUNGS

RECORDED = Path(__file__).with_name("recorded.json")  # at the default scale
AT_FULL_SCALE = "python -m course.ladder --scale full --seeds 0 1 2 --record docs"


NOT_MEASURED = f"Not measured yet. On a machine with a GPU:\n\n    {AT_FULL_SCALE}\n"


def recorded_at(scale: str) -> Path:
    """The record of a scale; each has its own."""
    return RECORDED if scale == "default" else RECORDED.with_name(f"recorded_{scale}.json")


@dataclass(frozen=True)
class Summary:
    """One rung over all its seeds."""

    title: str
    n_seeds: int
    n_parameters: int
    bits_per_token: float
    spread: float  # largest minus smallest over the seeds
    percent_above_floor: float
    seconds: float
    cpu_seconds: float
    by_kind: dict[str, list[float]]  # bits above the floor for each kind of word, of every seed


def summaries(results: Iterable[Result]) -> list[Summary]:
    """The rungs in their order, each over all its seeds."""
    by_rung: dict[str, list[Result]] = {}
    for result in results:
        by_rung.setdefault(result.rung, []).append(result)
    return [summary(same_rung) for same_rung in by_rung.values()]


def summary(results: Sequence[Result]) -> Summary:
    """Means over the seeds of one rung, the spread (range) over them, and the shortest times."""
    bits = [result.bits_per_token for result in results]
    return Summary(
        title=results[0].title,
        n_seeds=len(results),
        n_parameters=round(mean(result.n_parameters for result in results)),
        bits_per_token=mean(bits),
        spread=max(bits) - min(bits),
        percent_above_floor=mean(result.percent_above_floor for result in results),
        seconds=min(result.seconds for result in results),  # least disturbed by other work
        cpu_seconds=min(result.cpu_seconds for result in results),
        by_kind={
            kind: [result.by_kind[kind] for result in results if result.by_kind]
            for kind in results[0].by_kind
        },
    )


def gaps(rungs: Sequence[Summary]) -> list[tuple[str, float, float]]:
    """For neighbouring rungs: names, the bits that the better one saves, the larger of the two spreads."""
    return [
        (
            f"{lower.title} → {upper.title}",
            lower.bits_per_token - upper.bits_per_token,
            max(lower.spread, upper.spread),
        )
        for lower, upper in pairwise(rungs)
    ]


HEADINGS = ("model", "parameters", "bits/token", "spread", "above floor", "seconds", "CPU seconds")


def cells(rung: Summary) -> tuple[str, ...]:
    """One line of the table."""
    return (
        rung.title,
        f"{rung.n_parameters:,}",
        f"{rung.bits_per_token:.4f}",
        f"{rung.spread:.4f}" if rung.n_seeds > 1 else "–",
        f"{rung.percent_above_floor:.2f} %",
        f"{rung.seconds:.1f}",
        f"{rung.cpu_seconds:.1f}",
    )


def as_table(rungs: Sequence[Summary], floor: float) -> str:
    """The ladder as lines of text, the floor at the bottom."""
    return aligned(
        [HEADINGS, *map(cells, rungs), ("floor (exact)", "", f"{floor:.4f}", "", "0.00 %", "", "")]
    )


def aligned(lines: Sequence[Sequence[str]], n_left: int = 1) -> str:
    """Lines of cells as text in columns, the first `n_left` of them to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < n_left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def as_markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, the others to the right."""
    ruler = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, ruler, *lines))


def record(results: Sequence[Result], command: str, device: torch.device | None = None) -> dict:
    """Everything that was measured, and where."""
    machine = f"{os.cpu_count()} cores ({platform.machine()}), {torch.get_num_threads()} used by torch"
    if device is not None and device.type == "cuda":
        machine = f"{torch.cuda.get_device_name(device)}; {machine}"
    return {
        "command": command,
        "machine": machine,
        "torch": torch.__version__.split("+")[0],
        "results": [asdict(result) for result in results],
    }


def joined_with(results: Sequence[Result], earlier: Iterable[Result]) -> list[Result]:
    """These results and the earlier ones of other rungs and seeds, by seed and then by rung."""
    found = {(result.seed, result.rung): result for result in (*earlier, *results) if result.rung in RUNGS}
    order = list(RUNGS)
    return sorted(found.values(), key=lambda result: (result.seed, order.index(result.rung)))


def write_record(recorded: dict, path: Path) -> None:
    """Write a record as JSON, in a folder that is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(recorded, indent=1) + "\n")


def read_recorded(path: Path = RECORDED) -> list[Result]:
    """The results that the command wrote when it last ran at the default scale."""
    return [Result(**result) for result in json.loads(path.read_text())["results"]]


def kinds_section(results: Sequence[Result]) -> str:
    """The distance from the floor by kind of word, as a part of the page; empty if none was measured."""
    measured = [result for result in results if result.by_kind]
    if not measured:
        return ""
    header = ("model", *measured[0].by_kind)
    lines = [
        (rung.title, *(f"{mean(rung.by_kind[kind]):z.2f}".replace("-", "−") for kind in header[1:]))
        for rung in summaries(measured)
    ]
    seeds = ", ".join(map(str, sorted({result.seed for result in measured})))
    return f"""
Bits above the floor at the places where a word of each kind came next (seeds: {seeds}). Less than zero is
possible: a model that expects a kind too often gains at these places, and pays at others.

{as_markdown(header, lines)}
"""


def page(recorded: dict, picture: str, full: dict | None = None) -> str:
    """The page of the documentation, made from the records alone: at the default scale, and at full scale."""
    return f"""# The ladder, measured

Every model of the course is trained on the same stories by the same loop and scored, in bits per token, on
held-out stories. The floor (entropy) is exact: it is the score of the true model of the language on the same
held-out stories.

{section(recorded, picture)}
## At full scale

Ten times as many stories, eight times as many steps, networks twice as wide; for a GPU.

{NOT_MEASURED if full is None else section(full, picture.replace(".png", "_full.png"))}"""


def page_of_records() -> str:
    """The page of the records that come with the course."""
    default, full = (recorded_at(scale) for scale in ("default", "full"))
    whole = json.loads(full.read_text()) if full.exists() else None
    return page(json.loads(default.read_text()), "ladder/ladder.png", whole)


def section(recorded: dict, picture: str) -> str:
    """What the page says about one scale."""
    results = [Result(**result) for result in recorded["results"]]
    rungs, floor = summaries(results), mean(result.floor for result in results)
    seeds = sorted({result.seed for result in results})
    gap_lines = [(names, f"{gap:.4f}", f"{spread:.4f}") for names, gap, spread in gaps(rungs)]
    alt_text = ", ".join(f"{rung.title} {rung.bits_per_token:.2f}" for rung in rungs)
    return f"""    {recorded["command"]}

{as_markdown(HEADINGS, map(cells, rungs))}

Floor: {floor:.4f} bits per token. Seeds: {", ".join(map(str, seeds))}. Each seed has its own training
stories, initial weights and order of stories. "Spread" is the range over seeds: the largest value minus the
smallest. Seconds cover building and training, of the quickest seed: as wall-clock time, on a
machine that may have been busy with other work, and as CPU time of all cores together.
Machine: {recorded["machine"]}; PyTorch {recorded["torch"]}.

![The ladder in bits per token: {alt_text}; the floor is {floor:.2f}.]({picture})

How many bits each step down the ladder saves, with the larger of the two models' spreads:

{as_markdown(("step", "bits/token saved", "spread"), gap_lines)}
{kinds_section(results)}"""
