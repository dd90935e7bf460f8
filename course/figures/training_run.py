"""A training run to scrub through: every snapshot's losses, embeddings, activations, gradients and text."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from course.figures.figure import Figure, png

N_BINS = 24
SMALLEST, LARGEST = -10.0, 1.0  # powers of ten that the histogram of gradients covers
STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Measured:
    """The measurements of a model at a snapshot, made by the reader's own function.

    losses in nats per token. sample: a text that it generates. embeddings: (V, D). activations: in [−1, 1].
    """

    training_loss: float
    validation_loss: float
    sample: str
    embeddings: Tensor
    activations: Tensor


@dataclass(frozen=True)
class Snapshot:
    """A model after `step` steps: its measurements, its gradients, and the relative size of its last step."""

    step: int
    measured: Measured
    gradients: Tensor  # all of them, flat
    updates: Mapping[str, float]  # parameter → |last step| / |parameter|


class Recorder:
    """Takes snapshots at given steps; pass it to `course.training.train` as `after_step`.

    For a snapshot at step 0, call it once before training.
    """

    def __init__(self, steps: Collection[int], measure: Callable[[nn.Module], Measured]) -> None:
        self.steps, self.measure = frozenset(steps), measure
        self.snapshots: list[Snapshot] = []
        self.before: dict[str, Tensor] = {}

    def __call__(self, step: int, model: nn.Module) -> None:
        """Take a snapshot if one is due, and keep the weights if one is due at the next step."""
        if step in self.steps:
            gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
            self.snapshots.append(
                Snapshot(
                    step,
                    self.measure(model),
                    torch.cat(gradients) if gradients else torch.zeros(0),
                    {
                        name: self.ratio(name, p)
                        for name, p in model.named_parameters()
                        if name in self.before
                    },
                )
            )
        if step + 1 in self.steps:
            self.before = {name: p.detach().clone() for name, p in model.named_parameters()}

    def ratio(self, name: str, parameter: Tensor) -> float:
        """The norm of the last step, relative to the parameter's own norm."""
        before = self.before[name]
        return ((parameter.detach() - before).norm() / before.norm().clamp_min(1e-12)).item()


def training_run(
    runs: Mapping[str, Sequence[Snapshot]],
    tokens: Sequence[str],
    *,
    shown: Sequence[int] | None = None,
    about: Mapping[str, str] | None = None,
    floor: float | None = None,
    caption: str = (
        "Loss, activations, gradients and steps of the same run: something that is wrong shows in "
        "several of them."
    ),
) -> Figure:
    """Show runs side by side, snapshot by snapshot; all runs have snapshots at the same steps.

    tokens: the vocabulary. shown: the tokens on the map; by default the first 40. about: a line on each run.
    floor: the entropy in nats per token, if it is known.
    Raises ValueError if a run has no snapshot or if tokens and embeddings do not match.
    """
    for name, snapshots in runs.items():
        if not snapshots:
            raise ValueError(f"runs: expected at least one snapshot of {name!r}")
        if len(snapshots[0].measured.embeddings) != len(tokens):
            expected = len(snapshots[0].measured.embeddings)
            raise ValueError(f"tokens: expected one for each of {expected} embeddings, got {len(tokens)}")
    shown = list(range(min(40, len(tokens)))) if shown is None else list(shown)
    ends = {name: snapshots[-1] for name, snapshots in runs.items()}
    described = "; ".join(
        f"{name}: held-out loss {end.measured.validation_loss:.2f} after {end.step} steps"
        for name, end in ends.items()
    )
    return Figure(
        name="training_run",
        data={
            "runs": [
                {"name": name, "about": (about or {}).get(name, ""), "snapshots": film(snapshots, shown)}
                for name, snapshots in runs.items()
            ],
            "tokens": [tokens[index] for index in shown],
            "floor": floor,
        },
        alt=f"Losses of {len(runs)} training runs against the step. {described}.",
        caption=caption,
        picture=png(curves(runs, floor)),
    )


def film(snapshots: Sequence[Snapshot], shown: Sequence[int]) -> list[dict[str, Any]]:
    """Every snapshot as JSON; the map's axes are the main directions of the last embeddings."""
    directions = main_directions(snapshots[-1].measured.embeddings[shown].double())
    return [
        {
            "step": snapshot.step,
            "training": round(snapshot.measured.training_loss, 4),
            "validation": round(snapshot.measured.validation_loss, 4),
            "sample": snapshot.measured.sample,
            "places": places(snapshot.measured.embeddings[shown].double(), directions),
            "activations": counts(snapshot.measured.activations.double(), -1.0, 1.0),
            "gradients": sizes(snapshot.gradients.double()),
            "updates": {name: float(f"{ratio:.2e}") for name, ratio in snapshot.updates.items()},
        }
        for snapshot in snapshots
    ]


def main_directions(vectors: Tensor) -> Tensor:
    """(V, D) → (D, 2): the first two principal components, each with its largest entry positive."""
    _, _, directions = torch.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    first = directions[:2].T
    return first * first.gather(0, first.abs().argmax(0, keepdim=True)).sign()


def places(vectors: Tensor, directions: Tensor) -> list[list[float]]:
    """(V, D) → V points."""
    points = (vectors - vectors.mean(0)) @ directions
    return [[float(f"{value:.2g}") for value in point] for point in points.tolist()]


def counts(values: Tensor, low: float, high: float) -> list[int]:
    """How many values lie in each of N_BINS bins; values outside count in the outermost bins."""
    if not values.numel():
        return [0] * N_BINS
    return torch.histc(values.flatten().clamp(low, high), N_BINS, low, high).int().tolist()


def sizes(gradients: Tensor) -> list[int]:
    """Histogram of the gradients' magnitudes, by powers of ten; zeros are left out."""
    return counts(gradients[gradients != 0].abs().log10(), SMALLEST, LARGEST)


def curves(runs: Mapping[str, Sequence[Snapshot]], floor: float | None):
    """The fallback picture: held-out losses of all runs."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(6, 2.8))
    for (name, snapshots), style in zip(runs.items(), STYLES * len(runs), strict=False):
        losses = [snapshot.measured.validation_loss for snapshot in snapshots]
        axes.plot([snapshot.step for snapshot in snapshots], losses, style, label=name)
    if floor is not None:
        axes.axhline(floor, color="#009E73", linewidth=1, label="floor")
    axes.set(xlabel="step", ylabel="held-out loss (nats)", ylim=(0, 12))
    axes.legend(frameon=False)
    return drawing
