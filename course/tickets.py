"""How far back can a model look? Accuracy of a recalled word against the distance to its first mention.

    tickets  then she went to the shop for toner  →  tickets

The texts are those of `course.recall`. A new model is trained for every distance, always for the same number
of steps, so the curves show what each kind can *learn* to carry. An RNN carries the word in its state, an
LSTM in its cell; attention carries nothing, because it can look the word up at its position. Before training,
each trial also measures how much of the gradient arrives at the word.

    python -m course.tickets                        a table and a picture
    python -m course.tickets --record docs          also the record, and the page in docs/ with its figure
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Literal, cast

import torch
from torch import Tensor, nn

from course.models import GPT, GPTConfig, LSTMCell, RecurrentLanguageModel, RNNCell
from course.plots import Picture, accuracy_by_distance, line_style
from course.recall import THINGS, WORDS, recall_loss, recall_network, recall_texts
from course.training import TrainingConfig, train

Kind = Literal["rnn", "rnn_orthogonal", "gru", "lstm", "lstm_3", "attention"]
KINDS: dict[Kind, str] = {
    "rnn": "RNN",
    "rnn_orthogonal": "RNN, orthogonal start",
    "gru": "GRU",
    "lstm": "LSTM",  # whose forget bias begins at 1
    "lstm_3": "LSTM, forget bias 3",
    "attention": "attention",
}
RECORDED = Path(__file__).with_suffix(".json")


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
    arrives: float | None  # `share_that_arrives` before training; None for attention
    cpu_seconds: float


def network(kind: Kind, distance: int, seed: int) -> nn.Module:
    """An untrained model of this kind, with one layer of 32 units."""
    if kind == "rnn_orthogonal":
        model = recall_network("rnn", seed)
        rnn = cast(RNNCell, model.network.cells[0])
        nn.init.orthogonal_(rnn.U, generator=torch.Generator().manual_seed(seed))
        return model
    if kind == "lstm_3":
        model = recall_network("lstm", seed)
        lstm = cast(LSTMCell, model.network.cells[0])
        nn.init.constant_(lstm.b[lstm.d_hidden : 2 * lstm.d_hidden], 3.0)  # rows of i, f, g, o
        return model
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


def share_that_arrives(model: RecurrentLanguageModel, distance: int) -> float:
    """|∂L/∂x| at the object relative to that at the last word read, for the loss of the recalled object.

    In double precision, because over a hundred words it can be too small for single precision.
    """
    model = deepcopy(model).double()
    tokens = recall_texts(distance, 64, torch.Generator().manual_seed(0))
    x = model.embedding(tokens).detach().requires_grad_()  # (B, distance + 1, d_embedding)
    log_probs = model.output(model.network(x)[0])[:, -1].log_softmax(-1)
    (gradient,) = torch.autograd.grad(-log_probs.gather(-1, tokens[:, :1]).mean(), x)
    return (gradient[:, 0].norm() / gradient[:, -1].norm()).item()


def trial(kind: Kind, distance: int, seed: int, config: TicketsConfig) -> Trial:
    """Train a new model at one distance and measure its accuracy on the recalled word; chance is 1/8."""
    began = time.process_time()
    model = network(kind, distance, seed)
    arrives = share_that_arrives(model, distance) if isinstance(model, RecurrentLanguageModel) else None

    def batches(step: int) -> tuple[Tensor]:
        generator = torch.Generator().manual_seed(1_000_003 * (seed + 1) + step)
        return (recall_texts(distance, config.batch_size, generator),)

    train(
        model, batches, TrainingConfig(config.n_steps, config.learning_rate), loss=recall_loss, device="cpu"
    )
    texts = recall_texts(distance, config.n_test_texts, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        accuracy = (model(texts)[:, -1].argmax(-1) == texts[:, 0]).double().mean().item()
    return Trial(kind, distance, seed, accuracy, arrives, time.process_time() - began)


def trials(config: TicketsConfig) -> Iterator[Trial]:
    """Every model at every distance with every seed, one at a time."""
    for kind in config.kinds:
        for distance in config.distances:
            for seed in config.seeds:
                yield trial(kind, distance, seed, config)


Accuracies = dict[Kind, dict[int, list[float]]]


def accuracies(done: Iterable[Trial]) -> Accuracies:
    """For each model, at each distance, the accuracy of each seed."""
    collected: Accuracies = {}
    for each in done:
        collected.setdefault(each.kind, {}).setdefault(each.distance, []).append(each.accuracy)
    return collected


def reach(accuracy: dict[int, list[float]], threshold: float = 0.9) -> int:
    """The largest distance up to which a model's mean is at least this high; 0 if it never is."""
    far = 0
    for distance in sorted(accuracy):
        if mean(accuracy[distance]) < threshold:
            break
        far = distance
    return far


def picture(found: Accuracies) -> Picture:
    """Mean accuracy against distance, on a logarithmic axis, the range over the seeds as a band."""
    means = {KINDS[kind]: {d: mean(seeds) for d, seeds in curve.items()} for kind, curve in found.items()}
    figure = accuracy_by_distance(means, chance=1 / len(THINGS))
    distances = sorted({distance for curve in found.values() for distance in curve})
    axes = figure.axes[0]
    for index, curve in enumerate(found.values()):
        colour, across = line_style(index)["color"], sorted(curve)
        lowest, highest = ([end(curve[d]) for d in across] for end in (min, max))
        axes.fill_between(across, lowest, highest, color=colour, alpha=0.2, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(distances, list(map(str, distances)))
    axes.minorticks_off()
    return figure


def cell(seeds: list[float]) -> str:
    """The mean, and the smallest and the largest value where they differ by more than 0.05."""
    lowest, highest = min(seeds), max(seeds)
    spread = f" ({lowest:.2f}–{highest:.2f})" if highest - lowest > 0.05 else ""
    return f"{mean(seeds):.2f}{spread}"


def lines(found: Accuracies) -> list[list[str]]:
    """A table: a header, then a line for every model, with its reach at the end."""
    distances = sorted({distance for curve in found.values() for distance in curve})
    header = ["model", *map(str, distances), "reach"]
    rows = [
        [KINDS[kind], *(cell(curve[d]) if d in curve else "" for d in distances), str(reach(curve))]
        for kind, curve in found.items()
    ]
    return [header, *rows]


def read_recorded(path: Path = RECORDED) -> list[Trial]:
    """The trials that the command recorded."""
    return [Trial(**each) for each in json.loads(path.read_text())["trials"]]


def page(recorded: dict) -> str:
    """The page of the documentation, made from a record alone."""
    found = accuracies(Trial(**each) for each in recorded["trials"])
    header, *rows = ["| " + " | ".join(line) + " |" for line in lines(found)]
    ruler = "| --- |" + " ---: |" * (header.count("|") - 2)
    table = "\n".join([header, ruler, *rows])
    config, n_seconds = recorded["config"], sum(each["cpu_seconds"] for each in recorded["trials"])
    n_steps, batch_size, n_seeds = config["n_steps"], config["batch_size"], len(config["seeds"])
    return f"""# A word that returns: accuracy against distance

Each text names one of {len(THINGS)} objects, small talk follows, and the model must name the object again
(the recall task). A new model is trained for every distance, for {n_steps} steps of {batch_size} texts. The
numbers are accuracies, averaged over {n_seeds} seeds; where these differ by more than 0.05, the smallest and
the largest follow in brackets. Chance is {1 / len(THINGS):.3f}. Reach is the largest distance up to which the
mean is at least 0.9. The forget bias of an LSTM begins at 1 unless its name says otherwise.

    {recorded["command"]}

{table}

All trials together took {n_seconds:.0f} seconds of CPU time.

![{picture(found).alt_text}](tickets/tickets.png)
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
    found = accuracies(done)
    for line in lines(found):
        print("  ".join(text.rjust(9 if i == 0 else 5) for i, text in enumerate(line)))
    if asked.record is None:
        asked.picture.write_bytes(picture(found).png())
    else:
        keep(*with_recorded(done, config), asked.record)


def with_recorded(done: list[Trial], config: TicketsConfig) -> tuple[list[Trial], TicketsConfig]:
    """These trials among the recorded ones of the same training, in order, and what they cover together."""
    trained = {"n_steps", "batch_size", "learning_rate", "n_test_texts"}
    known = json.loads(RECORDED.read_text()) if RECORDED.exists() else {"config": {}}
    is_same = all(known["config"].get(name) == getattr(config, name) for name in trained)
    kept = read_recorded(RECORDED) if is_same else []
    found = {(each.kind, each.distance, each.seed): each for each in [*kept, *done]}
    together = replace(
        config,
        kinds=tuple(kind for kind in KINDS if any(kind == each.kind for each in found.values())),
        distances=tuple(sorted({each.distance for each in found.values()})),
        seeds=tuple(sorted({each.seed for each in found.values()})),
    )
    order = list(KINDS)
    return sorted(found.values(), key=lambda t: (order.index(t.kind), t.distance, t.seed)), together


def command_of(config: TicketsConfig) -> str:
    """The command that repeats the trials of a record."""
    default, words = TicketsConfig(), ["python", "-m", "course.tickets"]
    for name in ("kinds", "distances", "seeds"):
        if getattr(config, name) != getattr(default, name):
            words += [f"--{name}", *map(str, getattr(config, name))]
    words += ["--steps", str(config.n_steps)] if config.n_steps != default.n_steps else []
    return shlex.join([*words, "--record", "docs"])


def keep(done: list[Trial], config: TicketsConfig, folder: Path) -> None:
    """Write the record, and its page and its figure into this folder."""
    recorded = {"command": command_of(config), "config": asdict(config), "trials": list(map(asdict, done))}
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    (folder / "tickets").mkdir(parents=True, exist_ok=True)
    (folder / "tickets" / "tickets.png").write_bytes(picture(accuracies(done)).png())
    (folder / "tickets.md").write_text(page(recorded))


if __name__ == "__main__":
    main(sys.argv[1:])
