"""The command `python -m course.ladder`: train the rungs, print the table, draw the picture."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

import torch

from course.distributed import is_first, join, leave
from course.ladder.climb import Result, climb
from course.ladder.records import (
    as_table,
    joined_with,
    page_of_records,
    read_recorded,
    record,
    recorded_at,
    summaries,
    write_record,
)
from course.ladder.rungs import RUNGS, SCALES, Corpus
from course.ladder.weights import SEED, save_weights
from course.plots import ladder
from course.training import best_device


def arguments(words: list[str]) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m course.ladder", description=__doc__)
    ask = parser.add_argument
    ask("--rungs", nargs="+", choices=RUNGS, default=list(RUNGS), metavar="RUNG", help=", ".join(RUNGS))
    ask("--seeds", nargs="+", type=int, default=[0], help="one run of every rung per seed")
    ask("--scale", choices=SCALES, default="default", help="number of stories, steps and units")
    ask("--device", default=None, help="cpu, cuda or mps; by default the best one")
    ask("--picture", type=Path, default=Path("ladder.png"), help="where to draw the figure")
    ask(
        "--record",
        type=Path,
        metavar="FOLDER",
        help="write ladder.md there, and the course's own record and weights",
    )
    return parser.parse_args(words)


def main(words: list[str]) -> None:
    """Train, print, draw."""
    asked, joined = arguments(words), join()
    scale = SCALES[asked.scale]
    device = joined or (best_device() if asked.device is None else torch.device(asked.device))
    print(f"scale {asked.scale} on {device}: {scale.n_train_stories:,} stories to train on", file=sys.stderr)
    results: list[Result] = []
    for seed in asked.seeds:
        corpus = Corpus(scale, seed)
        for name in asked.rungs:
            result, model = climb(
                RUNGS[name], corpus, scale, seed, device=device, has_progress_bar=is_first()
            )
            results.append(result)
            print(line(result), file=sys.stderr, flush=True)
            if asked.record is not None and is_first():
                keep(results, asked.record, asked.scale, device)
                if seed == SEED and result.curve and asked.scale == "default":
                    save_weights(model, name)
    if is_first():
        show(results, asked)
    leave()


def line(result: Result) -> str:
    """One result as a line of text, printed as soon as it is known."""
    return (
        f"{result.title:<14} seed {result.seed}  {result.bits_per_token:.4f} bits/token, "
        f"{result.percent_above_floor:.2f} % above the floor, {result.seconds:.1f} s"
    )


def show(results: list[Result], asked: argparse.Namespace) -> None:
    """Print the table and, unless the record is drawn, draw it."""
    print(as_table(summaries(results), results[0].floor))
    if asked.record is None:
        draw(results, asked.picture)


def draw(results: list[Result], picture: Path) -> None:
    """The figure of these results."""
    rungs, floor = summaries(results), results[0].floor
    picture.parent.mkdir(parents=True, exist_ok=True)
    spread = {rung.title: rung.spread for rung in rungs if rung.n_seeds > 1}
    figure = ladder({rung.title: rung.bits_per_token for rung in rungs}, floor, spread)
    picture.write_bytes(figure.png())
    print(f"drawn: {picture}", file=sys.stderr)


def keep(results: list[Result], folder: Path, scale: str, device: torch.device) -> None:
    """Write the record of this scale, the page and the figure; the record's other rungs and seeds stay."""
    path = recorded_at(scale)
    together = joined_with(results, read_recorded(path) if path.exists() else [])
    write_record(record(together, command_of(together, folder, scale, device), device), path)
    name = "ladder.png" if scale == "default" else f"ladder_{scale}.png"
    draw(together, folder / "ladder" / name)
    (folder / "ladder.md").write_text(page_of_records())


def command_of(results: list[Result], folder: Path, scale: str, device: torch.device) -> str:
    """The command that measures all of these again, in however many runs they were measured."""
    rungs = list(dict.fromkeys(result.rung for result in results))
    words = ["python", "-m", "course.ladder"]
    words += ["--rungs", *rungs] if set(rungs) != set(RUNGS) else []
    words += ["--seeds", *map(str, sorted({result.seed for result in results}))]
    words += ["--scale", scale] if scale != "default" else []
    return shlex.join([*words, "--device", device.type, "--record", str(folder)])


if __name__ == "__main__":
    main(sys.argv[1:])
