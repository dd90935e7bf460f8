"""Samplers applied in a stated order, with a report of what each one did.

The order changes the result, because a filter receives the probabilities left by the steps before it. With a
temperature above 1 before min-p, more tokens pass than with the same temperature after it. A penalty after
top-k cannot bring a token back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch

from course.sampling.distribution import History, Logits, entropy
from course.sampling.next_token import sample_next_token
from course.shapes import Float, Int, Tensor

Transform = Callable[..., Tensor]


@dataclass(frozen=True)
class StepReport:
    """The effect of one step on one row."""

    name: str
    removed: tuple[int, ...]  # tokens that were possible before the step and are not after it
    removed_mass: float  # their probability before the step
    n_kept: int
    entropy_before: float  # bits
    entropy_after: float  # bits

    def __str__(self) -> str:
        change = f"entropy {self.entropy_before:.2f} → {self.entropy_after:.2f} bits"
        removed = f"removed {len(self.removed)} ({self.removed_mass:.1%}), kept {self.n_kept}"
        return f"{self.name}: {removed}, {change}"


@dataclass(frozen=True)
class Pipeline:
    """Steps `logits, history → logits`, applied from the first to the last.

    Pipeline([partial(top_k, k=50), partial(temperature, t=0.8)]) filters before it applies the temperature.
    """

    steps: tuple[Transform, ...] = ()

    def __init__(self, steps: Iterable[Transform] = ()) -> None:
        object.__setattr__(self, "steps", tuple(steps))

    def __call__(self, logits: Logits, history: History | None = None) -> Float[Tensor, "*batch vocab"]:
        for step in self.steps:
            logits = step(logits, history)
        return logits

    def report(
        self, logits: Float[Tensor, " vocab"], history: Int[Tensor, " time"] | None = None
    ) -> list[StepReport]:
        """The effect of each step on one row of logits. Steps that draw random numbers draw them here too."""
        reports = []
        for step in self.steps:
            after = step(logits, history)
            reports.append(describe_step(step_name(step), logits, after))
            logits = after
        return reports


def step_name(step: Transform) -> str:
    """ "top_k" for `top_k` and for `partial(top_k, k=50)`."""
    function = step.func if isinstance(step, partial) else step
    return getattr(function, "__name__", type(function).__name__)


def describe_step(name: str, before: Float[Tensor, " vocab"], after: Float[Tensor, " vocab"]) -> StepReport:
    """Compare the logits before and after a step."""
    removed = (before > -torch.inf) & (after == -torch.inf)
    return StepReport(
        name=name,
        removed=tuple(removed.nonzero().flatten().tolist()),
        removed_mass=float(before.softmax(dim=-1)[removed].sum()),
        n_kept=int((after > -torch.inf).sum()),
        entropy_before=float(entropy(before)) / math.log(2),
        entropy_after=float(entropy(after)) / math.log(2),
    )


@dataclass(frozen=True)
class Sampler:
    """Draws a token after a pipeline: `logits (B, V), history (B, T) → tokens (B,)`, for `generate`."""

    generator: torch.Generator
    pipeline: Pipeline = Pipeline()

    def __call__(self, logits: Float[Tensor, "batch vocab"], history: Int[Tensor, "batch time"]) -> Tensor:
        return sample_next_token(self.pipeline(logits, history), self.generator)
