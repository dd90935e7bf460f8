"""Real text, letter by letter: `python -m course.letters` trains RNNs on it and keeps what they write.

One reads names, the other scenes of Shakespeare (Tiny Shakespeare). Each is measured and writes after 1, 10
and 100 % of its steps. The last tenth of a text is held out: it is scored, never trained on. Both texts are
downloaded on the first run; the record that lecture 07 shows needs neither.
"""

from __future__ import annotations

import json
import math
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Literal

import torch
from torch import Tensor, nn

from course.data.corpora import names, tiny_shakespeare
from course.evaluation import target_nll
from course.models import RecurrentConfig, RecurrentLanguageModel
from course.sampling.generation import generate
from course.sampling.next_token import sample_next_token
from course.training import TrainingConfig, train

RECORDED = Path(__file__).with_suffix(".json")
MOMENTS = (0.01, 0.1, 1.0)  # of the steps
START = "\n"  # a new name, a new line

Name = Literal["names", "shakespeare"]


def shuffled_names() -> str:
    """The names one a line, shuffled, because the list begins with the most common ones."""
    every = names()
    return "\n".join(Random(0).sample(every, len(every)))


TEXTS: dict[Name, Callable[[], str]] = {"names": shuffled_names, "shakespeare": tiny_shakespeare}


@dataclass(frozen=True)
class Writer:
    """One training."""

    n_steps: int
    d_hidden: int
    learning_rate: float
    n_written: int  # characters
    d_embedding: int = 32
    batch_size: int = 32
    n_characters: int = 64  # of each piece that is read, from an empty state


WRITERS: dict[Name, Writer] = {
    "names": Writer(2000, 128, 4e-3, n_written=80),
    "shakespeare": Writer(3000, 256, 3e-3, n_written=240),
}


@dataclass(frozen=True)
class Moment:
    """What a model had reached after so many steps."""

    step: int
    bits: float  # per character of the held-out text
    written: str


@dataclass(frozen=True)
class Run:
    """One finished training."""

    name: str
    writer: Writer
    n_parameters: int
    n_read: int  # characters of the text that were trained on
    cpu_seconds: float
    moments: tuple[Moment, ...]


def trained(name: str, text: str, writer: Writer, seed: int = 0) -> Run:
    """Train one writer on a text and keep its moments."""
    alphabet = sorted(set(text))
    numbers = torch.tensor([alphabet.index(c) for c in text])
    n_read = len(numbers) * 9 // 10
    torch.manual_seed(seed)
    sizes = RecurrentConfig(len(alphabet), "rnn", writer.d_embedding, writer.d_hidden)
    model = RecurrentLanguageModel(sizes)
    moments: list[Moment] = []

    def pieces(step: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(1_000_003 * (seed + 1) + step)
        starts = torch.randint(n_read - writer.n_characters, (writer.batch_size,), generator=generator)
        piece = numbers[starts[:, None] + torch.arange(writer.n_characters + 1)]
        return piece[:, :-1], piece[:, 1:]

    def look(step: int, _: nn.Module) -> None:
        if step in {max(1, round(share * writer.n_steps)) for share in MOMENTS}:
            written = written_by(model, alphabet, writer.n_written, seed)
            moments.append(Moment(step, held_out_bits(model, numbers[n_read:], writer.n_characters), written))

    config = TrainingConfig(writer.n_steps, writer.learning_rate, weight_decay=0.1)
    began = time.process_time()
    train(model, pieces, config, device="cpu", after_step=look, has_progress_bar=True)
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    return Run(name, writer, n_parameters, n_read, time.process_time() - began, tuple(moments))


@torch.no_grad()
def held_out_bits(model: RecurrentLanguageModel, held_out: Tensor, n_characters: int) -> float:
    """Bits per character, in pieces read from an empty state; the first 10,000 characters at most."""
    rows = held_out[: min(10_000, len(held_out) - 1) // n_characters * n_characters + 1]
    inputs, targets = rows[:-1].view(-1, n_characters), rows[1:].view(-1, n_characters)
    model.eval()
    nats = target_nll(model(inputs), targets).mean().item()
    model.train()
    return nats / math.log(2)


def written_by(model: RecurrentLanguageModel, alphabet: list[str], n_characters: int, seed: int) -> str:
    """Characters drawn from the model one by one, after a line feed."""
    draw = partial(sample_next_token, generator=torch.Generator().manual_seed(seed))
    start = torch.tensor([[alphabet.index(START)]])
    tokens = generate(model, start, n_characters, lambda logits, _history: draw(logits))
    return "".join(alphabet[token] for token in tokens[0, 1:].tolist())


def read_recorded(path: Path = RECORDED) -> dict[str, Run]:
    """The trainings that the command recorded, by their names."""
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return {run["name"]: as_run(run) for run in runs}


def as_run(record: dict[str, Any]) -> Run:
    """A run from its record."""
    moments = tuple(Moment(**moment) for moment in record["moments"])
    return Run(**(record | {"writer": Writer(**record["writer"]), "moments": moments}))


def main(words: list[str]) -> None:
    """Train all of them; what is finished is in the record, should the next be interrupted."""
    parser = ArgumentParser(prog="python -m course.letters", description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=RECORDED, help="file of the record")
    asked = parser.parse_args(words)
    torch.set_num_threads(1)
    runs: list[dict[str, Any]] = []
    for name, writer in WRITERS.items():
        runs.append(asdict(trained(name, TEXTS[name](), writer)))
        record = {"command": "python -m course.letters", "torch": torch.__version__, "runs": runs}
        asked.to.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
