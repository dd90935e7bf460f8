"""The course's models against the standard ones, on one machine in one run: `python benchmarks/models.py`.

The two sides of a pair take turns, so that both meet the same state of the machine. The table gives the
median and the middle half of the times, and the ratio of the medians with the limit that the course sets
itself.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from nanogpt import NanoGPT
from nltk.lm.counter import NgramCounter
from nltk.util import everygrams
from torch import Tensor, nn
from torch.nn import functional as F

from course.models import GPT, GRU, LSTM, GPTConfig, NGramCounts

B, T, D = 32, 64, 256


@dataclass(frozen=True)
class Comparison:
    """Two implementations of the same thing, and how much longer ours may take."""

    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    limit: float
    n_rounds: int


def measure(comparison: Comparison, clock: Callable[[], float]) -> tuple[list[float], list[float]]:
    """Seconds of every round of ours and of theirs, after two warm-up rounds."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for round_number in range(comparison.n_rounds + 2):
        for run, times in zip((comparison.ours, comparison.theirs), seconds, strict=True):
            start = clock()
            run()
            if round_number >= 2:
                times.append(clock() - start)
    return seconds


def row(name: str, times: list[float]) -> str:
    """Median and middle half, in milliseconds."""
    low, median, high = (1000 * quartile for quartile in statistics.quantiles(times, n=4))
    return f"{name:<44}{median:>10.1f} ms   ({low:.1f} – {high:.1f})"


def report(comparison: Comparison, clock: Callable[[], float]) -> None:
    """Three lines: ours, theirs, the ratio."""
    ours, theirs = measure(comparison, clock)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(row(f"{comparison.name}, ours", ours))
    print(row(f"{comparison.name}, theirs", theirs))
    verdict = "within" if ratio <= comparison.limit else "OVER"
    print(f"{'ratio':<44}{ratio:>10.2f}      {verdict} the limit of {comparison.limit:g}\n", flush=True)


def forward_and_backward(network: nn.Module, x: Tensor) -> Callable[[], None]:
    """One forward and one backward pass, with gradients of inputs and weights."""

    def run() -> None:
        network.zero_grad()
        x.grad = None
        network(x)[0].sum().backward()

    return run


def recurrent(name: str, ours: type[nn.Module], theirs: type[nn.Module], n_rounds: int) -> Comparison:
    """A recurrent layer against torch.nn's at (B, T, D) = (32, 64, 256)."""
    x = torch.randn(B, T, D, requires_grad=True)
    runs = (forward_and_backward(network, x) for network in (ours(D, D), theirs(D, D, batch_first=True)))
    return Comparison(f"{name} forward + backward", *runs, limit=2.5, n_rounds=n_rounds)


def training_step(model: nn.Module, loss: Callable[[nn.Module, Tensor], Tensor], tokens: Tensor) -> Callable:
    """Forward pass, backward pass, and one step of AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def run() -> None:
        optimizer.zero_grad()
        loss(model, tokens).backward()
        optimizer.step()

    return run


def our_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    """The loss through the common interface: the mean of the targets' log-probabilities, negated."""
    return F.nll_loss(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def their_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    """The loss from logits, by PyTorch's cross-entropy."""
    return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def gpt(config: GPTConfig, n_rounds: int) -> Comparison:
    """A training step of a GPT against nanoGPT's formulation of the same size."""
    tokens = torch.randint(config.vocab_size, (B, config.context_length + 1))
    ours, theirs = GPT(config), NanoGPT(config)
    sizes = [sum(parameter.numel() for parameter in model.parameters()) for model in (ours, theirs)]
    assert sizes[0] == sizes[1], f"not the same size: {sizes}"
    name = f"GPT step, D={config.d_model} L={config.n_layers} T={config.context_length}"
    runs = (training_step(ours, our_loss, tokens), training_step(theirs, their_loss, tokens))
    return Comparison(name, *runs, limit=1.0, n_rounds=n_rounds)


def counting(n_tokens: int, order: int, n_rounds: int) -> Comparison:
    """Counting n-grams of orders up to n; ours also sorts them for look-up, theirs only counts."""
    generator = torch.Generator().manual_seed(0)
    skewed = torch.rand(n_tokens // 20, 20, generator=generator).pow(3)  # few words are frequent, many rare
    sentences = 1 + (skewed * 4999).long()
    as_lists = sentences.tolist()

    def theirs() -> NgramCounter:
        return NgramCounter(everygrams([0] * (order - 1) + sentence, max_len=order) for sentence in as_lists)

    def ours() -> NGramCounts:
        return NGramCounts(sentences, order, vocab_size=5000, bos=0)

    return Comparison(
        f"{order}-gram counts of {n_tokens:,} tokens", ours, theirs, limit=0.1, n_rounds=n_rounds
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="rounds that count (default 20)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="threads of PyTorch")
    parser.add_argument(
        "--cpu-time", action="store_true", help="processor seconds: for a machine that is busy"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    clock = time.process_time if options.cpu_time else time.perf_counter
    kind = "processor" if options.cpu_time else "wall-clock"
    print(f"PyTorch {torch.__version__}, {options.threads} thread(s), {kind} time, median (middle half)\n")
    for comparison in (
        recurrent("LSTM", LSTM, nn.LSTM, options.rounds),
        recurrent("GRU", GRU, nn.GRU, options.rounds),
        gpt(GPTConfig(98, 64, d_model=128, n_heads=4, n_layers=4), options.rounds),
        gpt(GPTConfig(5000, 128, d_model=256, n_heads=8, n_layers=4), max(options.rounds // 4, 3)),
        counting(200_000, 3, max(options.rounds // 4, 3)),
    ):
        report(comparison, clock)


if __name__ == "__main__":
    main()
