"""SmolLM2's tokens per second, against transformers on the same weights: `python benchmarks/real_model.py`.

Both generate greedily with a cache of keys and values, and take turns. On a GPU each is also run in bfloat16.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from unittest.mock import patch

import torch
from llama_in_transformers import in_transformers
from transformers import LlamaForCausalLM

from course.models import Llama
from course.pretrained import smollm2
from course.sampling import greedy
from course.training import best_device


def seconds_of(run: Callable[[], torch.Tensor], device: torch.device) -> tuple[float, torch.Tensor]:
    """How long a run takes, and what it returns."""
    begun = time.perf_counter()
    result = run()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begun, result


def seconds_to_load() -> str:
    """How long the model takes to load the first time, and once its weights are kept in the cache."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, COURSE_CACHE=folder):
        took = [seconds_of_processor(smollm2) for _ in range(2)]
    said = (f"{wall:.1f} s ({busy:.1f} s busy)" for wall, busy in took)
    return "loaded the first time in {}, the second time in {}".format(*said)


def seconds_of_processor(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds that a run takes, and those in which the processor works for it."""
    begun, busy = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - begun, time.process_time() - busy


def compare(
    ours: Llama, theirs: LlamaForCausalLM, shape: tuple[int, int], options: argparse.Namespace
) -> str:
    """One row: tokens per second of both, and the ratio."""
    device = ours.embedding.weight.device
    prompt = torch.randint(17, ours.vocab_size, shape, device=device)
    n = options.tokens

    def run_theirs() -> torch.Tensor:
        mask = torch.ones_like(prompt)
        return theirs.generate(
            prompt, attention_mask=mask, max_new_tokens=n, min_new_tokens=n, do_sample=False
        )

    runs = {"ours": lambda: greedy(ours, prompt, n), "theirs": run_theirs}
    times: dict[str, list[float]] = {name: [] for name in runs}
    results = {}
    for round_number in range(options.rounds + 1):
        for name, run in runs.items():
            took, results[name] = seconds_of(run, device)
            if round_number:
                times[name].append(took)
    a, b = (shape[0] * n / statistics.median(times[name]) for name in runs)
    same = (results["ours"] == results["theirs"]).float().mean().item()
    dtype = str(ours.embedding.weight.dtype).removeprefix("torch.")
    return f"{dtype:<10}{shape[0]:>6}{a:>12.1f}{b:>14.1f}{a / b:>8.2f}{same:>14.1%}"


def main() -> None:
    device = best_device()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--prompt", type=int, default=32, help="tokens of each prompt")
    parser.add_argument("--tokens", type=int, default=32, help="tokens to generate")
    parser.add_argument("--rounds", type=int, default=5)
    on_gpu = device.type == "cuda"
    kinds = ["float32", "bfloat16"] if on_gpu else ["float32"]
    parser.add_argument("--dtypes", nargs="+", choices=["float32", "bfloat16"], default=kinds)
    options = parser.parse_args()
    torch.manual_seed(0)
    card = torch.cuda.get_device_name() if on_gpu else f"CPU, {torch.get_num_threads()} threads"
    print(f"SmolLM2-135M, prompts of {options.prompt} tokens, {options.tokens} more; {card}")
    print(f"{'':<10}{'batch':>6}{'ours, /s':>12}{'transformers':>14}{'ratio':>8}{'same tokens':>14}")
    print(seconds_to_load(), flush=True)
    ours = smollm2().model
    theirs = in_transformers(ours)
    for kind in options.dtypes:
        dtype = getattr(torch, kind)
        pair = [copy.deepcopy(model).to(device, dtype) for model in (ours, theirs)]
        for batch_size in options.batch_sizes:
            print(compare(*pair, (batch_size, options.prompt), options), flush=True)
    if not on_gpu:
        print("On a GPU: not measured.")


if __name__ == "__main__":
    main()
