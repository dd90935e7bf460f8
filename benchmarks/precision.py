"""SmolLM2 with its numbers in 32, 16 and 8 bits: speed, and what it says: `python benchmarks/precision.py`.

bf16 matrices and int8 matrices are those of the layers: in bfloat16, or with each row as integers from −127
to 127 and a scale. They multiply in bfloat16, and everything else, the logits included, stays in float32. In
bfloat16 everything is. "Says the same" counts the prompts whose greedy continuation is float32's, token by
token; what follows it compares the logits along float32's text.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from course.models import Llama
from course.models.linear import Linear
from course.pretrained import smollm2
from course.pretrained.explored import PROMPTS
from course.pretrained.recorded import CONTEXTS, LOOP
from course.sampling import greedy

ASKED = (*PROMPTS, *CONTEXTS, LOOP)


class InSixteenBits(nn.Module):
    """W x with W in bfloat16."""

    def __init__(self, W: Tensor) -> None:
        super().__init__()
        self.register_buffer("W", W.bfloat16())

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x.bfloat16(), self.W).float()


class InEightBits(nn.Module):
    """W x with the rows of W as integers of 8 bits and one scale each, by PyTorch's kernel for them."""

    def __init__(self, W: Tensor) -> None:
        super().__init__()
        scale = W.abs().amax(dim=1) / 127  # (d_output,)
        self.register_buffer("integers", (W / scale[:, None]).round().to(torch.int8))
        self.register_buffer("scale", scale.bfloat16())

    def forward(self, x: Tensor) -> Tensor:
        rows = torch._weight_int8pack_mm(x.bfloat16().flatten(end_dim=-2), self.integers, self.scale)
        return rows.view(*x.shape[:-1], -1).float()


def with_matrices(model: Llama, kind: Callable[[Tensor], nn.Module]) -> Llama:
    """A copy whose layers hold their matrices in another form."""
    changed = copy.deepcopy(model)
    for module in list(changed.modules()):
        for name, child in module.named_children():
            if isinstance(child, Linear):
                setattr(module, name, kind(child.weight.detach()))
    return changed


def models(ours: Llama) -> dict[str, Llama]:
    """The model at each precision."""
    return {
        "float32": ours,
        "bf16 matrices": with_matrices(ours, InSixteenBits),
        "bfloat16": copy.deepcopy(ours).to(torch.bfloat16),
        "int8 matrices": with_matrices(ours, InEightBits),
    }


def megabytes(model: Llama) -> float:
    """The memory of its numbers."""
    held = (*model.parameters(), *model.buffers())
    return sum(each.numel() * each.element_size() for each in held) / 1e6


@dataclass(frozen=True)
class Speed:
    """How fast a variant writes, and in every round how many times as fast as float32."""

    tokens_per_second: float
    ratios: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.tokens_per_second:.1f} ({min(self.ratios):.2f}–{max(self.ratios):.2f})"


def speeds_of(variants: dict[str, Llama], batch_size: int, options: argparse.Namespace) -> dict[str, Speed]:
    """The speed of each variant, in turns; the prompt is read before the clock starts."""
    prompt = torch.randint(17, variants["float32"].vocab_size, (batch_size, options.prompt))
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for round_number in range(options.rounds + 1):
        for name, model in variants.items():
            begun = time.perf_counter()
            greedy(model, prompt, 1)
            read = time.perf_counter()
            greedy(model, prompt, 1 + options.tokens)
            if round_number:
                seconds[name].append(time.perf_counter() - read - (read - begun))
    return {
        name: Speed(
            batch_size * options.tokens / statistics.median(times),
            tuple(theirs / own for theirs, own in zip(seconds["float32"], times, strict=True)),
        )
        for name, times in seconds.items()
    }


@dataclass(frozen=True)
class Said:
    """What a variant says, beside float32."""

    n_same: int  # of the prompts
    same_best: float  # share of the places at which the most probable token is the same
    difference: float  # mean over all logits
    bits: float  # KL divergence of its distribution from float32's, mean over the places


@torch.no_grad()
def beside(theirs: Llama, model: Llama, texts: list[tuple[Tensor, int]]) -> Said:
    """Compare on float32's texts, each with the length of its prompt."""
    same, best, differences, bits = 0, [], [], []
    for text, n_read in texts:
        same += int(greedy(model, text[:, :n_read], text.shape[1] - n_read).equal(text))
        expected, found = (each.logits(text)[0, n_read - 1 :].double() for each in (theirs, model))
        best.append((expected.argmax(-1) == found.argmax(-1)).double().mean())
        differences.append((expected - found).abs().mean())
        log_p, log_q = expected.log_softmax(-1), found.log_softmax(-1)
        bits.append((log_p.exp() * (log_p - log_q)).sum(-1).mean() / torch.tensor(2.0).log())
    means = (float(torch.stack(values).mean()) for values in (best, differences, bits))
    return Said(same, *means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--prompt", type=int, default=32, help="tokens of each prompt")
    parser.add_argument("--tokens", type=int, default=16, help="tokens to generate for the clock")
    parser.add_argument("--said", type=int, default=30, help="tokens of each continuation")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(0)
    pretrained = smollm2()
    variants = models(pretrained.model)
    prompts = [torch.tensor([pretrained.tokenizer.encode(text)]) for text in ASKED]
    texts = [(greedy(pretrained.model, prompt, options.said), prompt.shape[1]) for prompt in prompts]
    print(f"SmolLM2-135M on a CPU, {torch.get_num_threads()} threads; capability {capability()}")
    headings = [f"batch {size}, /s" for size in options.batch_sizes]
    print(f"In brackets: how many times as fast as float32, lowest and highest of {options.rounds} rounds.")
    print(row("", "MB", *headings, "says the same", "same best", "|Δ logit|", "KL, bits"))
    speeds = [speeds_of(variants, size, options) for size in options.batch_sizes]
    better = []
    for name, model in variants.items():
        said = beside(pretrained.model, model, texts)
        print(
            row(
                name,
                f"{megabytes(model):.0f}",
                *(str(speed[name]) for speed in speeds),
                f"{said.n_same} of {len(texts)}",
                f"{said.same_best:.1%}",
                f"{said.difference:.3f}",
                f"{said.bits:.4f}",
            ),
            flush=True,
        )
        is_faster = all(min(speed[name].ratios) > 1 for speed in speeds)
        better += [name] if is_faster and said.n_same == len(texts) else []
    print(f"Faster than float32 in every round and equal in what it says: {', '.join(better) or 'none'}.")


def row(name: str, *cells: str) -> str:
    """A line of the table."""
    return f"{name:<14}" + "".join(f"{cell:>18}" for cell in cells)


def capability() -> str:
    """The widest instructions that PyTorch uses here."""
    return torch.backends.cpu.get_cpu_capability()


if __name__ == "__main__":
    main()
