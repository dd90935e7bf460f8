"""BPE training against the `tokenizers` library, side by side in one run.

    python benchmarks/bpe_training.py                     Tiny Shakespeare, 2,000 merges
    python benchmarks/bpe_training.py --merges 500        fewer merges
    python benchmarks/bpe_training.py --text FILE         another text

The two take turns, so that a slow moment of the machine affects both. Both get the same text, split into
pre-tokens by the same pattern, and must learn the same merges; otherwise the comparison stops.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from course.data.corpora import some_english
from course.tokenizers.bpe import BytePairTokenizer
from course.tokenizers.byte_symbols import SINGLE_BYTES, visible
from course.tokenizers.pre_tokens import gpt2_pattern

Merges = list[tuple[str, str]]


def ours(text: str, n_merges: int) -> Merges:
    """The merges learned by `course.tokenizers`, in visible characters."""
    tokenizer = BytePairTokenizer.train(text, len(SINGLE_BYTES) + n_merges)
    return [(visible(left), visible(right)) for left, right in tokenizer.merges]


def theirs(text: str, n_merges: int) -> Merges:
    """The merges learned by `tokenizers`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=len(SINGLE_BYTES) + n_merges,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def seconds(train: Callable[[str, int], Merges], text: str, n_merges: int) -> tuple[float, Merges]:
    """Seconds that one training took, and the merges it learned."""
    start = perf_counter()
    merges = train(text, n_merges)
    return perf_counter() - start, merges


def compare(text: str, n_merges: int, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of ours and of theirs, in turns."""
    gpt2_pattern()  # built once per process, whatever is trained afterwards
    times: tuple[list[float], list[float]] = [], []
    for _ in range(rounds):
        (our_time, our_merges), (their_time, their_merges) = (
            seconds(train, text, n_merges) for train in (ours, theirs)
        )
        if our_merges != their_merges:
            sys.exit("the two did not learn the same merges")
        times[0].append(our_time)
        times[1].append(their_time)
    return times


def line(name: str, times: list[float]) -> str:
    """Median and range of some times."""
    return f"{name:12} median {statistics.median(times):.3f} s   from {min(times):.3f} to {max(times):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="BPE training against the tokenizers library.")
    parser.add_argument("--merges", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--text", type=Path, help="a text file; default: Tiny Shakespeare")
    options = parser.parse_args()
    name, text = (
        (options.text.name, options.text.read_text(encoding="utf-8")) if options.text else some_english()
    )
    our_times, their_times = compare(text, options.merges, options.rounds)
    ratios = [our_time / their_time for our_time, their_time in zip(our_times, their_times, strict=True)]
    print(f"{name}, {len(text):,} characters, {options.merges:,} merges, {options.rounds} rounds")
    print(line("course", our_times))
    print(line("tokenizers", their_times))
    low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
    print(f"ratio        median {middle:.2f}     from {low:.2f} to {high:.2f}")


if __name__ == "__main__":
    main()
