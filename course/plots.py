"""Pictures of the course: each function takes data and returns a figure that carries its own description.

    figure = loss_curves({"LSTM": history.losses})
    figure                      # the last line of a cell shows it; its alt text travels with the picture
    figure.savefig("loss.png")

Backgrounds are transparent and all text is a grey that can be read on white and on black. Colours are those
of Okabe and Ito (2008), which colour-blind readers tell apart, and lines also differ in their dashes.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
GREY = "#808080"  # a contrast of about 4 to 1 with white as with black


class Picture(Figure):
    """A matplotlib figure with `alt_text`: what someone who does not see the picture should know."""

    def __init__(self, alt_text: str, size: tuple[float, float] = (6.4, 3.6)) -> None:
        super().__init__(figsize=size, layout="constrained", facecolor="none")
        self.alt_text = alt_text

    def __repr__(self) -> str:
        return f"<Picture: {self.alt_text}>"

    def panel(self, rows: int = 1, columns: int = 1, index: int = 1) -> Axes:
        """Axes without a frame on two sides, in grey."""
        axes = self.add_subplot(rows, columns, index, facecolor="none")
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(GREY)
        axes.tick_params(colors=GREY, labelsize=9)
        for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
            text.set_color(GREY)
        return axes

    def png(self) -> bytes:
        """The picture as a file."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110, transparent=True, metadata={"Description": self.alt_text})
        return buffer.getvalue()

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        """What a notebook shows, with the alt text where nbconvert and Jupyter look for it."""
        return {"image/png": self.png(), "text/plain": repr(self)}, {"image/png": {"alt": self.alt_text}}


def line_style(index: int) -> dict:
    """Colour and dashes of the n-th line."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
        "linewidth": 1.8,
    }


def legend(axes: Axes, **placing: object) -> None:
    """A legend without a box, in grey."""
    axes.legend(frameon=False, labelcolor=GREY, fontsize=9, **placing)


def smoothed(values: Sequence[float], share: float = 0.02) -> np.ndarray:
    """A moving average over this share of the values, shorter at the beginning."""
    width = max(1, round(len(values) * share))
    totals = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=float))])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - width)
    return (totals[ends] - totals[starts]) / (ends - starts)


def loss_curves(
    losses: Mapping[str, Sequence[float]], floor: float | None = None, unit: str = "nats per token"
) -> Picture:
    """Training loss against the step, one line per model, smoothed; the floor as a dotted line."""
    check_series(losses, "losses")
    ends = ", ".join(f"{name} ends at {smoothed(values)[-1]:.2f}" for name, values in losses.items())
    picture = Picture(
        f"Loss in {unit} against the training step: {ends}"
        + ("." if floor is None else f"; the floor is {floor:.2f}.")
    )
    axes = picture.panel()
    for index, (name, values) in enumerate(losses.items()):
        axes.plot(range(1, len(values) + 1), smoothed(values), label=name, **line_style(index))
    if floor is not None:
        axes.axhline(floor, color=GREY, linestyle=":", label="floor")
    axes.set(xlabel="step", ylabel=unit)
    legend(axes)
    return picture


def check_series(series: Mapping[str, Sequence], name: str) -> None:
    """Stop with a sentence unless there is something to draw."""
    if not series or any(len(values) == 0 for values in series.values()):
        raise ValueError(f"{name}: expected at least one series with at least one value, got {dict(series)}")
