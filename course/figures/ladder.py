"""The whole ladder: bits per token against the exact floor, by parameters or by seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from course.figures.figure import Figure, png

if TYPE_CHECKING:  # measuring needs torch and every model; showing the results does not
    from course.ladder.records import Summary


def ladder(
    rungs: Sequence[Summary],
    floor: float,
    *,
    caption: str = ("What a model pays above the floor is what it has not learned. Click a rung to read it."),
) -> Figure:
    """Show each model's bits per token, its parameters and its seconds: `ladder(summaries(…), floor)`.

    Takes the result of `course.ladder.summaries`, or anything with the same fields. Raises ValueError if a
    rung is below the floor by more than its error can explain, or if there is no rung.
    """
    if not rungs:
        raise ValueError("rungs: expected at least one, got none")
    for rung in rungs:
        if rung.bits_per_token < 0.99 * floor:
            raise ValueError(
                f"{rung.title}: expected at least the floor of {floor:.4f} bits per token, "
                f"got {rung.bits_per_token:.4f}: has this model seen the test stories?"
            )
    listed = ", ".join(f"{rung.title} {rung.bits_per_token:.2f}" for rung in rungs)
    return Figure(
        name="ladder",
        data={"rungs": [as_data(rung) for rung in rungs], "floor": round(floor, 6)},
        alt=f"The ladder in bits per token: {listed}; the floor is {floor:.2f}.",
        caption=caption,
        picture=png(steps(rungs, floor)),
    )


def as_data(rung: Summary) -> dict[str, str | float]:
    """One rung in the form that the module reads."""
    if not math.isfinite(rung.bits_per_token):
        raise ValueError(f"{rung.title}: expected a finite number of bits, got {rung.bits_per_token}")
    return {
        "title": rung.title,
        "parameters": rung.n_parameters,
        "bits": round(rung.bits_per_token, 6),
        "spread": round(rung.spread, 6),
        "seconds": round(rung.seconds, 2),
    }


def steps(rungs: Sequence[Summary], floor: float):
    """The fallback picture: the rungs as bars, the floor as a dashed line."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(6.5, 0.8 + 0.28 * len(rungs)))
    bits = [rung.bits_per_token for rung in rungs]
    bars = axes.barh([rung.title for rung in rungs][::-1], bits[::-1], color="#0072B2")
    axes.bar_label(bars, [f"{value:.2f}" for value in bits[::-1]], padding=3)
    axes.axvline(floor, color="#D55E00", linestyle="--", label=f"floor {floor:.2f}")
    axes.set(xlabel="bits per token", xlim=(0, 1.12 * max(bits)))
    axes.legend(frameon=False, loc="lower right")
    return drawing
