"""How far back can a model look? Accuracy of a recalled word against the distance to its first mention.

    tickets  then she went to the shop for toner  →  tickets

The texts are those of `course.recall`. A new model is trained for every distance, always for the same number
of steps, so the curves show what each kind can *learn* to carry. An RNN carries the word in its state, an
LSTM in its cell; attention carries nothing, because it can look the word up at its position.

    python -m course.tickets                        a table and a picture
    python -m course.tickets --record docs          also the page in docs/ with its figure
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Literal

import torch
from torch import Tensor, nn

from course.models import GPT, GPTConfig
from course.plots import Picture, accuracy_by_distance
from course.recall import THINGS, WORDS, recall_loss, recall_network, recall_texts
from course.training import TrainingConfig, train

Kind = Literal["rnn", "gru", "lstm", "attention"]
KINDS: dict[Kind, str] = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "attention": "attention"}


@dataclass(frozen=True)
class TicketsConfig:
    """Which models over which distances, and how long each is trained."""

    kinds: tuple[Kind, ...] = tuple(KINDS)
    distances: tuple[int, ...] = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100)
    seeds: tuple[int, ...] = (0, 1, 2)
    n_steps: int = 300
    batch_size: int = 32
    learning_rate: float = 1e-2
    n_test_texts: int = 500

    def __post_init__(self) -> None:
        unknown = set(self.kinds) - set(KINDS)
        if unknown:
            raise ValueError(f"kinds: expected some of {', '.join(KINDS)}, got {', '.join(sorted(unknown))}")


@dataclass(frozen=True)
class Trial:
    """One model, one distance, one seed."""

    kind: Kind
    distance: int
    seed: int
    accuracy: float
    cpu_seconds: float


def network(kind: Kind, distance: int, seed: int) -> nn.Module:
    """An untrained model of this kind, with one layer of 32 units."""
    if kind != "attention":
        return recall_network(kind, seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return GPT(
            GPTConfig(
                len(WORDS),
                distance + 1,
                d_model=32,
                n_heads=2,
                n_layers=1,
                positions="rotary",
                initial_deviation=32**-0.5,
            )
        )


def trial(kind: Kind, distance: int, seed: int, config: TicketsConfig) -> Trial:
    """Train a new model at one distance and measure its accuracy on the recalled word; chance is 1/8."""
    began = time.process_time()
    model = network(kind, distance, seed)

    def batches(step: int) -> tuple[Tensor]:
        generator = torch.Generator().manual_seed(1_000_003 * (seed + 1) + step)
        return (recall_texts(distance, config.batch_size, generator),)

    train(
        model, batches, TrainingConfig(config.n_steps, config.learning_rate), loss=recall_loss, device="cpu"
    )
    texts = recall_texts(distance, config.n_test_texts, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        accuracy = (model(texts)[:, -1].argmax(-1) == texts[:, 0]).double().mean().item()
    return Trial(kind, distance, seed, accuracy, time.process_time() - began)


def trials(config: TicketsConfig) -> Iterator[Trial]:
    """Every model at every distance with every seed, one at a time."""
    for kind in config.kinds:
        for distance in config.distances:
            for seed in config.seeds:
                yield trial(kind, distance, seed, config)


def mean_accuracy(done: Iterable[Trial]) -> dict[Kind, dict[int, float]]:
    """For each model its accuracy at each distance, averaged over the seeds."""
    collected: dict[Kind, dict[int, list[float]]] = {}
    for each in done:
        collected.setdefault(each.kind, {}).setdefault(each.distance, []).append(each.accuracy)
    return {
        kind: {distance: mean(values) for distance, values in by_distance.items()}
        for kind, by_distance in collected.items()
    }


def reach(accuracy: dict[int, float], threshold: float = 0.9) -> int:
    """The largest distance up to which a model is right at least this often; 0 if it never is."""
    far = 0
    for distance in sorted(accuracy):
        if accuracy[distance] < threshold:
            break
        far = distance
    return far


def picture(accuracy: dict[Kind, dict[int, float]]) -> Picture:
    """Accuracy against distance, on a logarithmic axis."""
    figure = accuracy_by_distance(
        {KINDS[kind]: curve for kind, curve in accuracy.items()}, chance=1 / len(THINGS)
    )
    distances = sorted({distance for curve in accuracy.values() for distance in curve})
    axes = figure.axes[0]
    axes.set_xscale("log")
    axes.set_xticks(distances, list(map(str, distances)))
    axes.minorticks_off()
    return figure


def lines(accuracy: dict[Kind, dict[int, float]]) -> list[list[str]]:
    """A table: a header, then a line for every model, with its reach at the end."""
    distances = sorted({distance for curve in accuracy.values() for distance in curve})
    header = ["model", *map(str, distances), "reach"]
    rows = [
        [KINDS[kind], *(f"{curve[d]:.2f}" if d in curve else "" for d in distances), str(reach(curve))]
        for kind, curve in accuracy.items()
    ]
    return [header, *rows]


def page(recorded: dict) -> str:
    """The page of the documentation, made from a record alone."""
    accuracy = mean_accuracy(Trial(**each) for each in recorded["trials"])
    header, *rows = ["| " + " | ".join(line) + " |" for line in lines(accuracy)]
    ruler = "|" + " ---: |" * (header.count("|") - 1)
    table = "\n".join([header, ruler, *rows])
    config, n_seconds = recorded["config"], sum(each["cpu_seconds"] for each in recorded["trials"])
    n_steps, batch_size, n_seeds = config["n_steps"], config["batch_size"], len(config["seeds"])
    return f"""# A word that returns: accuracy against distance

Each text names one of {len(THINGS)} objects, small talk follows, and the model must name the object again
(the recall task). A new model is trained for every distance, for {n_steps} steps of {batch_size} texts. The
numbers are accuracies, averaged over {n_seeds} seeds; chance is {1 / len(THINGS):.3f}. Reach is the largest
distance up to which the accuracy is at least 0.9.

    {recorded["command"]}

{table}

All trials together took {n_seconds:.0f} seconds of CPU time.

![{picture(accuracy).alt_text}](tickets/tickets.png)
"""


def arguments(words: list[str]) -> argparse.Namespace:
    """The options of the command."""
    default = TicketsConfig()
    parser = argparse.ArgumentParser(prog="python -m course.tickets", description=__doc__.splitlines()[0])
    ask = parser.add_argument
    ask("--kinds", nargs="+", choices=KINDS, default=default.kinds)
    ask("--distances", nargs="+", type=int, default=default.distances)
    ask("--seeds", nargs="+", type=int, default=default.seeds)
    ask("--steps", type=int, default=default.n_steps)
    ask("--picture", type=Path, default=Path("tickets.png"), help="where to draw the figure")
    ask(
        "--record", type=Path, metavar="FOLDER", help="write tickets.md there, with its figure and its record"
    )
    return parser.parse_args(words)


def main(words: list[str]) -> None:
    """Train under a progress bar, print the table, draw the figure."""
    from tqdm.auto import tqdm

    asked = arguments(words)
    config = TicketsConfig(tuple(asked.kinds), tuple(asked.distances), tuple(asked.seeds), asked.steps)
    n_trials = len(config.kinds) * len(config.distances) * len(config.seeds)
    done = list(tqdm(trials(config), total=n_trials, unit="model"))
    accuracy = mean_accuracy(done)
    for line in lines(accuracy):
        print("  ".join(cell.rjust(9 if i == 0 else 5) for i, cell in enumerate(line)))
    folder = None if asked.record is None else asked.record / "tickets"
    path = asked.picture if folder is None else folder / "tickets.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture(accuracy).png())
    if folder is not None:
        command = shlex.join(["python", "-m", "course.tickets", *words])
        recorded = {"command": command, "config": asdict(config), "trials": [asdict(each) for each in done]}
        (folder / "tickets.json").write_text(json.dumps(recorded, indent=1) + "\n")
        (asked.record / "tickets.md").write_text(page(recorded))


if __name__ == "__main__":
    main(sys.argv[1:])
