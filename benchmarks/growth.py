"""How time grows: attention and a GRU with T, training with the batch: `python benchmarks/growth.py`.

The larger half of each curve is fitted by seconds ∝ size^p; p near 1 is linear, p near 2 quadratic.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional as F

from course.models import GPT, GRU, GPTConfig
from course.models.attention import attention_weights, dot_scores

D, ROUNDS = 64, 7
LENGTHS = (64, 128, 256, 512, 1024, 2048)
BATCHES = (1, 2, 4, 8, 16, 32, 64)

Curve = dict[int, float]  # size → seconds


def attention(T: int) -> Callable[[], object]:
    """Scores, weights and output of one head, as the course writes them."""
    x = torch.randn(1, T, D)
    return lambda: attention_weights(dot_scores(x, x) / math.sqrt(D)) @ x


def recurrence(T: int) -> Callable[[], object]:
    """One GRU layer over the same text."""
    x, network = torch.randn(1, T, D), GRU(D, D)
    return lambda: network(x)


def training(batch_size: int) -> Callable[[], object]:
    """Forward and backward pass of a small GPT."""
    model = GPT(GPTConfig(98, 64, d_model=64, n_heads=4, n_layers=2))
    tokens = torch.randint(98, (batch_size, 65))

    def run() -> None:
        model.zero_grad()
        F.nll_loss(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()

    return run


CURVES = {
    "attention, T": (attention, LENGTHS),
    "GRU, T": (recurrence, LENGTHS),
    "GPT training, B": (training, BATCHES),
}


def measured(make: Callable[[int], Callable[[], object]], sizes: tuple[int, ...]) -> Curve:
    """The median of several runs at each size; the sizes take turns."""
    runs = {size: make(size) for size in sizes}
    times: dict[int, list[float]] = {size: [] for size in sizes}
    for round_number in range(ROUNDS + 1):
        for size, run in runs.items():
            begun = time.perf_counter()
            run()
            if round_number > 0:
                times[size].append(time.perf_counter() - begun)
    return {size: statistics.median(each) for size, each in times.items()}


def exponent(curve: Curve) -> float:
    """The slope of log seconds against log size in the larger half, where fixed costs no longer show."""
    sizes = sorted(curve)[len(curve) // 2 :]
    return statistics.linear_regression(
        [math.log(size) for size in sizes], [math.log(curve[size]) for size in sizes]
    ).slope


def draw(curves: dict[str, Curve], path: Path) -> None:
    """All curves on logarithmic axes, with their exponents."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    styles = (("#0072B2", "o", "-"), ("#D55E00", "s", "--"), ("#009E73", "^", ":"))
    for (name, curve), (colour, marker, line) in zip(curves.items(), styles, strict=True):
        label = f"{name}: p = {exponent(curve):.2f}"
        axes.loglog(curve.keys(), curve.values(), line, color=colour, marker=marker, label=label)
    axes.set(xlabel="size", ylabel="seconds")
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, bbox_inches="tight", facecolor="white")
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    torch.manual_seed(0)
    with torch.no_grad():
        curves = {
            name: measured(make, sizes) for name, (make, sizes) in CURVES.items() if make is not training
        }
    curves["GPT training, B"] = measured(training, BATCHES)
    for name, curve in curves.items():
        milliseconds = "  ".join(f"{size}: {1000 * seconds:.2f}" for size, seconds in curve.items())
        print(f"{name:<18} p = {exponent(curve):.2f}   ms at {milliseconds}")
    if options.picture:
        draw(curves, options.picture)


if __name__ == "__main__":
    main()
