"""The command `python -m course.translation_experiment lengths | budgets | captions`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from course.training import best_device
from course.translation_experiment.budgets import BUDGETS, POSITIONED, run_budgets
from course.translation_experiment.captions import CAPTION_KINDS, CAPTION_SCALES, run_captions
from course.translation_experiment.lengths import SCALES, run_lengths
from course.translation_experiment.pictures import map_beside_gold, quality_against_length
from course.translation_experiment.records import Record, ResultsFile, about, read_results
from course.translation_experiment.tables import REPORTS
from course.translation_experiment.translator_sizes import KINDS

PROGRAM = "python -m course.translation_experiment"


@dataclass(frozen=True)
class Experiment:
    """One word of the command."""

    summary: str
    scales: Mapping[str, Any]  # name → configuration; the first is the default
    kinds: Sequence[str]
    # called with a configuration, kinds, seeds, a device, the folder of checkpoints, what to do with a record
    run: Callable[[Any, Any, Sequence[int], torch.device, Path, Callable[[Record], None]], None]


EXPERIMENTS = {
    "lengths": Experiment(
        "generated pair: quality against length, alignment error rate", SCALES, KINDS, run_lengths
    ),
    "budgets": Experiment(
        "generated pair: recurrent and Transformer, by steps of training", BUDGETS, POSITIONED, run_budgets
    ),
    "captions": Experiment("Multi30k English-French: BLEU", CAPTION_SCALES, CAPTION_KINDS, run_captions),
}


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    top = argparse.ArgumentParser(prog=PROGRAM, description="Translation with and without attention.")
    experiments = top.add_subparsers(dest="experiment", required=True)
    for name, each in EXPERIMENTS.items():
        one = experiments.add_parser(name, help=each.summary, description=each.summary)
        one.add_argument("--scale", choices=each.scales, default=next(iter(each.scales)))
        one.add_argument("--kinds", nargs="+", choices=each.kinds, default=list(each.kinds))
        one.add_argument("--seeds", nargs="+", type=int, default=[0])
        one.add_argument("--steps", type=int, help="number of training steps, instead of the scale's")
        one.add_argument("--device", type=torch.device, default=best_device(), help="cuda, mps or cpu")
        one.add_argument("--threads", type=int, help="CPU threads; by default all cores")
        one.add_argument("--to", type=Path, default=Path("build/translation"), help="folder for the results")
        one.add_argument("--checkpoints", type=Path, help="folder of checkpoints; by default inside --to")
    return top


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one experiment; results are written after every model, so an interrupted one can be continued."""
    asked = parser().parse_args(arguments)
    if asked.threads:
        torch.set_num_threads(asked.threads)
    path = run(asked, EXPERIMENTS[asked.experiment])
    runs = read_results(path)["runs"]
    print(REPORTS[asked.experiment](runs))
    if asked.experiment == "lengths":
        draw(runs, path)


def run(asked: argparse.Namespace, experiment: Experiment) -> Path:
    """Run an experiment at the scale that was asked for; return the file of its results."""
    config = experiment.scales[asked.scale]
    if asked.steps:
        config = replace(config, n_steps=asked.steps)
    checkpoints = asked.checkpoints or asked.to / "checkpoints"
    path = asked.to / f"{asked.experiment}_{asked.scale}.json"
    results = ResultsFile(path, about(config, asked.device), partial(command_of, asked))
    experiment.run(config, asked.kinds, asked.seeds, asked.device, checkpoints, results.add)
    return path


def command_of(asked: argparse.Namespace, runs: Sequence[Record]) -> str:
    """The commands that repeat these runs, one line for all kinds with the same seeds, without paths."""
    kinds_by_seeds: dict[tuple[int, ...], list[str]] = {}
    for kind in EXPERIMENTS[asked.experiment].kinds:
        seeds = {run["seed"] for run in runs if run["kind"] == kind}
        if seeds:
            kinds_by_seeds.setdefault(tuple(sorted(seeds)), []).append(kind)
    return "\n".join(one_command(asked, kinds, seeds) for seeds, kinds in kinds_by_seeds.items())


def one_command(asked: argparse.Namespace, kinds: Sequence[str], seeds: Sequence[int]) -> str:
    """The command as it was asked for, but with these kinds and seeds."""
    words = [asked.experiment, "--scale", asked.scale]
    if set(kinds) != set(EXPERIMENTS[asked.experiment].kinds):
        words += ["--kinds", *kinds]
    words += ["--seeds", *map(str, seeds)]
    words += ["--steps", str(asked.steps)] if asked.steps else []
    words += ["--threads", str(asked.threads)] if asked.threads else []
    return f"{PROGRAM} {shlex.join(words)}"


def draw(runs: Sequence[Record], path: Path) -> None:
    """Quality against length, and the attention map of the last model that has one."""
    quality_against_length(runs).savefig(path.with_name(f"{path.stem}_quality.png"), dpi=110)
    maps = [run["example"] for run in runs if "example" in run]
    if maps:
        map_beside_gold(maps[-1]).savefig(path.with_name(f"{path.stem}_alignment.png"), dpi=110)


if __name__ == "__main__":
    main()
