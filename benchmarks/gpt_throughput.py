"""GPT training in tokens per second, against nanoGPT's formulation: `python benchmarks/gpt_throughput.py`.

On a GPU: fused AdamW, compiled, GPT-2 small by default, at several batch sizes, with both kinds of weights:
float32 with products in bfloat16 (autocast), and bfloat16 with float32 copies that are updated (see
course/master_weights.py). If the device's peak is known, the fraction of it that is reached (model FLOPs
utilisation, Chowdhery et al. 2022, section 4.1) is printed too. On a CPU, a small model shows that it works.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable

import torch
from nanogpt import NanoGPT
from torch import Tensor, nn
from torch.nn import functional as F

from course.master_weights import MasterWeights
from course.models import GPT, GPTConfig
from course.models.ledger import training_flops_per_token
from course.training import best_device

SIZES = {
    "tiny": GPTConfig(512, 64, d_model=64, n_heads=4, n_layers=2),
    # nanoGPT pads the vocabulary to a multiple of 64
    "gpt2-small": GPTConfig(50_304, 1024, d_model=768, n_heads=12, n_layers=12),
}

# Dense bfloat16 operations per second, as stated by the manufacturers, by a part of the device's name.
PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L4": 121e12, "T4": 65e12}


class WithLoss(nn.Module):
    """A model and the cross-entropy of its logits, so that both are compiled together."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        logits = (
            self.model.logits(tokens[:, :-1]) if isinstance(self.model, GPT) else self.model(tokens[:, :-1])
        )
        return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())


def stepper(model: nn.Module, tokens: Tensor, weights: str, is_compiled: bool) -> Callable[[], None]:
    """One training step of a model on these tokens; `weights` is the type of its parameters."""
    on_cuda = tokens.is_cuda
    is_mixed = on_cuda and weights == "float32"

    def adamw(parameters: Iterable[Tensor]) -> torch.optim.AdamW:
        return torch.optim.AdamW(parameters, lr=1e-4, fused=on_cuda)

    optimizer = adamw(model.parameters()) if weights == "float32" else MasterWeights(model, adamw)
    whole = torch.compile(WithLoss(model)) if is_compiled else WithLoss(model)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast(tokens.device.type, torch.bfloat16, enabled=is_mixed):
            loss = whole(tokens)
        loss.backward()
        optimizer.step()

    return step


def seconds_of(step: Callable[[], None], device: torch.device) -> float:
    begun = time.perf_counter()
    step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begun


def main() -> None:
    device = best_device()
    on_cuda = device.type == "cuda"
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="gpt2-small" if on_cuda else "tiny")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[16, 32, 64] if on_cuda else [8])
    kinds = ["float32", "bfloat16"]
    parser.add_argument("--weights", choices=kinds, nargs="+", default=kinds if on_cuda else kinds[:1])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=on_cuda)
    options = parser.parse_args()
    print(f"{options.size}, {card()}, PyTorch {torch.__version__}")
    for weights in options.weights:
        for batch_size in options.batch_sizes:
            medians = measure(SIZES[options.size], batch_size, weights, options, device)
            report(SIZES[options.size], batch_size, weights, medians)


def measure(
    config: GPTConfig, batch_size: int, weights: str, options: argparse.Namespace, device: torch.device
) -> dict[str, float]:
    """Median seconds of a step of ours and of theirs, which take turns."""
    torch.manual_seed(0)
    torch.compiler.reset()
    tokens = torch.randint(config.vocab_size, (batch_size, config.context_length + 1), device=device)
    models = {"ours": GPT(config).to(device), "nanoGPT's formulation": NanoGPT(config).to(device)}
    steps = {name: stepper(model, tokens, weights, options.compile) for name, model in models.items()}
    times: dict[str, list[float]] = {name: [] for name in steps}
    for round_number in range(options.rounds + 3):
        for name, step in steps.items():
            took = seconds_of(step, device)
            if round_number >= 3:
                times[name].append(took)
    return {name: statistics.median(each) for name, each in times.items()}


def card() -> str:
    """The name of the device."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"


def report(config: GPTConfig, batch_size: int, weights: str, medians: dict[str, float]) -> None:
    """Print tokens per second, the fraction of the peak, the ratio, and the memory."""
    n_tokens = batch_size * config.context_length
    print(f"\nbatch {batch_size} × {config.context_length}, {weights} weights")
    peak = next((value for part, value in PEAKS.items() if part in card()), None)
    for name, seconds in medians.items():
        used = n_tokens / seconds * training_flops_per_token(config)
        share = f"{used / peak:7.1%} of the peak" if peak else f"{used / 1e9:7.1f} GFLOP/s"
        print(f"{name:<24}{n_tokens / seconds:>12,.0f} tokens/s {share}")
    ours, theirs = medians.values()
    print(f"{'throughput, ratio':<24}{theirs / ours:>12.2f}", flush=True)
    if torch.cuda.is_available():
        print(f"{'memory at most':<24}{torch.cuda.max_memory_allocated() / 2**30:>12.1f} GiB for both models")


if __name__ == "__main__":
    main()
