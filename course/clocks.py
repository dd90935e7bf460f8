"""How time grows with the length of a text: `python -m course.clocks` measures four forward passes.

rnn         PyTorch's recurrent network, width 64 (lecture 12)
attention   self-attention of the same width, its projections included (lecture 12)
reading     the bidirectional GRU that encodes a source (lecture 11)
looking     additive attention of every target word over every source word, as many on both sides (lecture 11)

On a CPU it is the processor time of one thread that counts, which other programs disturb less than the clock
on the wall; on a GPU it is the clock, after everything has finished. Measure on a machine that does nothing
else: the record has the load before and after, and of all rounds the shortest and the longest. Fresh pages
of memory can cost more than the products that are written to them; with glibc, memory is kept by

    MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=4294967296 python -m course.clocks
"""

from __future__ import annotations

import json
import math
import os
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, get_args

import torch
from torch import nn
from torch.nn import functional as F

from course.models import GRU, additive_scores

RECORDED = Path(__file__).with_suffix(".json")
KEEPS_MEMORY = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")  # mallopt(3)
N_CALLS = 10  # in a round, of which the shortest counts; rounds lie seconds apart

Kind = Literal["rnn", "attention", "reading", "looking"]
Curve = dict[int, float]  # words → milliseconds
LENGTHS: dict[Kind, tuple[int, ...]] = {
    "rnn": (32, 64, 128, 256, 512, 1024, 2048),
    "attention": (32, 64, 128, 256, 512, 1024, 2048),
    "reading": (16, 32, 64, 128, 256),
    "looking": (16, 32, 64, 128, 256),
}


def forward(kind: Kind, n_words: int, device: torch.device) -> Callable[[], object]:
    """One text of so many words, and the pass to be measured."""
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return (torch.randn(*shape, generator=generator) / 8).to(device)

    if kind == "rnn":
        network, text = nn.RNN(64, 64, batch_first=True).to(device), random(1, n_words, 64)
        return lambda: network(text)
    if kind == "attention":
        matrices, text = random(3, 1, 64, 64), random(1, n_words, 64)

        def attention() -> torch.Tensor:
            query, key, value = text @ matrices
            return F.scaled_dot_product_attention(query, key, value, is_causal=True)

        return attention
    if kind == "reading":
        encoder, source = GRU(48, 96, is_bidirectional=True).to(device), random(1, n_words, 48)
        return lambda: encoder(source)
    states, memory = random(1, n_words, 96), random(1, n_words, 192)
    W_query, W_key, v = random(96, 96), random(96, 192), random(96)
    return lambda: additive_scores(states, memory, W_query, W_key, v).softmax(-1) @ memory


@torch.no_grad()
def milliseconds(run: Callable[[], object], device: torch.device, n_calls: int = N_CALLS) -> float:
    """The shortest of several calls."""
    clock = time.process_time if device.type == "cpu" else time.perf_counter
    shortest = math.inf
    for _ in range(n_calls):
        began = clock()
        run()
        if device.type == "cuda":
            torch.cuda.synchronize()
        shortest = min(shortest, clock() - began)
    return 1000 * shortest


def slope(curve: Curve, first: int, last: int) -> float:
    """The power of the length with which time grows between two lengths: 1 is linear, 2 quadratic."""
    return math.log(curve[last] / curve[first]) / math.log(last / first)


def read_recorded(path: Path = RECORDED) -> dict[Kind, Curve]:
    """What the command measured."""
    recorded = json.loads(path.read_text(encoding="utf-8"))["milliseconds"]
    return {kind: {int(n): value for n, value in recorded[kind].items()} for kind in get_args(Kind)}


def measured(device: torch.device, n_rounds: int) -> list[dict[Kind, Curve]]:
    """Every length of every kind once in each round."""
    return [
        {
            kind: {n: round(milliseconds(forward(kind, n, device), device), 4) for n in lengths}
            for kind, lengths in LENGTHS.items()
        }
        for _ in range(n_rounds)
    ]


def over_rounds(
    rounds: Sequence[dict[Kind, Curve]], choose: Callable[[list[float]], float]
) -> dict[Kind, Curve]:
    """One number of all rounds, such as their `min` or their `max`, for every length of every kind."""
    return {
        kind: {n: choose([each[kind][n] for each in rounds]) for n in curve}
        for kind, curve in rounds[0].items()
    }


def main(words: Sequence[str] | None = None) -> None:
    """Measure everything, and write the record: shortest and longest round, and how busy the machine was."""
    parser = ArgumentParser(prog="python -m course.clocks", description=__doc__.splitlines()[0])
    parser.add_argument("--device", type=torch.device, default=torch.device("cpu"))
    parser.add_argument("--rounds", type=int, default=10, help="how often everything is measured")
    parser.add_argument("--to", type=Path, default=RECORDED, help="file of the record")
    asked = parser.parse_args(words)
    torch.set_num_threads(1)
    load = os.getloadavg()[0]  # waiting programs, mean of the last minute
    rounds = measured(asked.device, asked.rounds)
    is_gpu = asked.device.type == "cuda"
    record = {
        "command": f"python -m course.clocks --device {asked.device} --rounds {asked.rounds}",
        "environment": {name: os.environ[name] for name in KEEPS_MEMORY if name in os.environ},
        "device": torch.cuda.get_device_name(asked.device) if is_gpu else f"{asked.device}, one thread",
        "torch": torch.__version__,
        "load": {"cores": os.cpu_count(), "before": load, "after": os.getloadavg()[0]},
        "rounds": len(rounds),
        "milliseconds": over_rounds(rounds, min),
        "milliseconds_of_the_slowest_round": over_rounds(rounds, max),
    }
    asked.to.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
