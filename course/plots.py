"""Plots of the course: each function takes data and returns a figure that carries its own description.

    figure = loss_curves({"LSTM": history.losses})
    figure                      # the last line of a cell shows it; the alt text is stored with the picture
    figure.savefig("loss.png")

Backgrounds are transparent, and all text is a grey that can be read on white and on black. The colours are
those of Okabe and Ito (2008), which colour-blind readers can tell apart; lines also differ in their dashes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import SupportsFloat

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from course.picture_style import GREY

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))


class Picture(Figure):
    """A matplotlib figure with `alt_text`: what a reader who cannot see the picture should know."""

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
        """The picture as the bytes of a PNG file."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110, transparent=True, metadata={"Description": self.alt_text})
        return buffer.getvalue()

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        """The picture for a notebook, with the alt text where nbconvert and Jupyter look for it."""
        return {"image/png": self.png(), "text/plain": repr(self)}, {"image/png": {"alt": self.alt_text}}


def line_style(index: int) -> dict:
    """Colour and dashes of line number `index`."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
        "linewidth": 1.8,
    }


def legend(axes: Axes) -> None:
    """A legend without a box, in grey."""
    axes.legend(frameon=False, labelcolor=GREY, fontsize=9)


def smoothed(values: Sequence[float], share: float = 0.02) -> np.ndarray:
    """A moving average over this fraction of the values, shorter at the beginning."""
    width = max(1, round(len(values) * share))
    totals = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=float))])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - width)
    return (totals[ends] - totals[starts]) / (ends - starts)


def loss_curves(
    losses: Mapping[str, Sequence[float]],
    floor: float | None = None,
    unit: str = "nats per token",
    colours: Mapping[str, str] | None = None,
) -> Picture:
    """Training loss against the step, one line per model, smoothed; the floor as a dotted line.

    colours: model → its colour, for a model that has one in all pictures of a page.
    """
    check_series(losses, "losses")
    ends = ", ".join(f"{name} ends at {smoothed(values)[-1]:.2f}" for name, values in losses.items())
    picture = Picture(
        f"Loss in {unit} against the training step: {ends}"
        + ("." if floor is None else f"; the floor is {floor:.2f}.")
    )
    axes = picture.panel()
    for index, (name, values) in enumerate(losses.items()):
        style = line_style(index)
        style["color"] = (colours or {}).get(name, style["color"])
        axes.plot(range(1, len(values) + 1), smoothed(values), label=name, **style)
    if floor is not None:
        axes.axhline(floor, color=GREY, linestyle=":", label="floor")
    axes.set(xlabel="step", ylabel=unit)
    legend(axes)
    return picture


def controller(states: Iterable[SupportsFloat], target: float, learning_rate: float) -> Picture:
    """Mirostat's state mu by step, and the surprise of each token, smoothed; its target as a dotted line.

    states: mu in bits, from the first to the one after the last token. Source: Basu et al. 2021.
    """
    mus = [float(mu) for mu in states]
    check_series({"mu": mus[1:]}, "states")
    surprises = [target + (before - after) / learning_rate for before, after in pairwise(mus)]
    mean = sum(surprises) / len(surprises)
    picture = Picture(
        f"Mirostat over {len(surprises)} tokens: their surprise is {mean:.2f} bits on average, its target "
        f"{target:.2f}; mu goes from {mus[0]:.2f} to {mus[-1]:.2f} bits."
    )
    axes = picture.panel()
    for index, (name, values) in enumerate([("mu", np.asarray(mus)), ("surprise", smoothed(surprises, 0.1))]):
        axes.plot(range(len(values)), values, label=name, **line_style(index))
    axes.axhline(target, color=GREY, linestyle=":", label="target")
    axes.set(xlabel="step", ylabel="bits")
    legend(axes)
    return picture


def check_series(series: Mapping[str, Sequence], name: str) -> None:
    """Raise ValueError unless there is something to draw."""
    if not series or any(len(values) == 0 for values in series.values()):
        raise ValueError(f"{name}: expected at least one series with at least one value, got {dict(series)}")


def ladder(
    bits_per_token: Mapping[str, float],
    floor: float,
    spread: Mapping[str, float] | None = None,
    own: str | None = None,
) -> Picture:
    """Each model as a rung at its bits per token, best at the bottom right, with the floor below them all.

    `spread` is the largest minus the smallest value over seeds, drawn as a bar where given. The rung of the
    name `own` stands out.
    """
    check_series({name: [value] for name, value in bits_per_token.items()}, "bits_per_token")
    told = ", ".join(f"{name} {value:.2f}" for name, value in bits_per_token.items())
    picture = Picture(f"The ladder in bits per token: {told}; the floor is {floor:.2f}.", size=(7.2, 3.8))
    axes = picture.panel()
    for place, (name, value) in enumerate(bits_per_token.items()):
        colour, width = (COLOURS[1], 8) if name == own else (COLOURS[0], 4)
        ends = [place - 0.4, place + 0.4]
        axes.plot(ends, [value, value], color=colour, linewidth=width, solid_capstyle="butt")
        axes.vlines(place, floor, value, color=GREY, linewidth=0.8)
        if spread is not None and name in spread:
            axes.errorbar(place, value, yerr=spread[name] / 2, color=COLOURS[3], capsize=4)
        axes.annotate(f"{value:.2f}", (place, value), (0, 3 + width / 2), textcoords="offset points",
                      ha="center", color=GREY, fontsize=9)  # fmt: skip
    axes.axhline(floor, color=COLOURS[3], linestyle="--")
    axes.annotate(
        f"floor {floor:.2f}", (-0.4, floor), (0, -12), textcoords="offset points", color=GREY, fontsize=9
    )
    axes.set_xticks(range(len(bits_per_token)), bits_per_token, rotation=25, ha="right")
    axes.set_yscale("log")  # the lower rungs lie close together
    ticks = [bits for bits in (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12) if bits > floor * 0.8]
    axes.set_yticks(ticks, [f"{bits:g}" for bits in ticks])
    axes.minorticks_off()
    axes.set(ylabel="bits per token", ylim=(floor * 0.85, 1.15 * max(bits_per_token.values())))
    return picture


def heat_map(
    values: Sequence[Sequence[float]] | np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    row_title: str = "query",
    column_title: str = "key",
    marked: Sequence[tuple[int, int]] = (),
    largest: float | None = None,
) -> Picture:
    """A matrix as shades, light to dark: attention weights, counts, errors. `marked` cells get an outline.

    Raises ValueError when the labels do not fit the matrix.
    """
    matrix = np.asarray(values, dtype=float)
    if matrix.shape != (len(rows), len(columns)):
        raise ValueError(
            f"values: expected shape ({len(rows)}, {len(columns)}), one row and column per label, "
            f"got {matrix.shape}"
        )
    top = matrix.argmax(axis=1)
    told = "; ".join(f"{row}: {columns[column]} {matrix[i, column]:.2f}"
                     for i, (row, column) in enumerate(zip(rows, top, strict=True)))  # fmt: skip
    picture = Picture(
        f"Heat map, {row_title} by {column_title}; the largest of each row is {told}.",
        size=(2.2 + 0.36 * len(columns), 1.6 + 0.3 * len(rows)),
    )
    axes = picture.panel()
    image = axes.imshow(matrix, cmap="cividis", vmin=min(0.0, matrix.min()), vmax=largest, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=60, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel=column_title, ylabel=row_title)
    for row, column in marked:
        axes.add_patch(
            Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=COLOURS[3], linewidth=1.5)
        )
    bar = picture.colorbar(image, ax=axes, shrink=0.8)
    bar.ax.tick_params(colors=GREY, labelsize=8)
    bar.outline.set_edgecolor(GREY)
    return picture


def next_words(probabilities: Mapping[str, Mapping[str, float]]) -> Picture:
    """What may come next: a panel for each context, a bar for each word, in the order given.

    The panels share their axis, so that bars can be compared across them.
    """
    check_series({context: list(words) for context, words in probabilities.items()}, "probabilities")
    told = "; ".join(
        f"{context}: {', '.join(f'{word} {rounded(p)}' for word, p in words.items())}"
        for context, words in probabilities.items()
    )
    n_bars = max(map(len, probabilities.values()))
    highest = max(max(words.values()) for words in probabilities.values())
    picture = Picture(
        f"Probabilities of the next word. {told}.", size=(3.4 * len(probabilities), 0.8 + 0.24 * n_bars)
    )
    for index, (context, words) in enumerate(probabilities.items(), start=1):
        axes = picture.panel(1, len(probabilities), index)
        bars = axes.barh(list(words), list(words.values()), color=COLOURS[0])
        axes.bar_label(bars, list(map(rounded, words.values())), padding=3, color=GREY, fontsize=8)
        axes.set(title=context, xlabel="probability", xlim=(0, 1.2 * highest))
        axes.title.set_fontsize(9)
        axes.invert_yaxis()
    return picture


def rounded(probability: float) -> str:
    """Two decimals, or one digit of a smaller number that is not zero: 0.92, 0.004."""
    return f"{probability:.2f}" if probability == 0 or probability >= 0.005 else f"{probability:.1g}"


def shades(matrix: Tensor, row_title: str = "query", column_title: str = "key") -> Picture:
    """A matrix of numbers, or of True and False, as shades; rows and columns are counted from 0."""
    rows, columns = (list(map(str, range(size))) for size in matrix.shape)
    values = matrix.detach().double().tolist()
    return heat_map(values, rows, columns, row_title=row_title, column_title=column_title)


def accuracy_by_distance(accuracy: Mapping[str, Mapping[int, float]], chance: float | None = None) -> Picture:
    """How often each model recalls the right word, against the distance to its first mention."""
    check_series({name: list(points) for name, points in accuracy.items()}, "accuracy")
    ends = ", ".join(
        f"{name} {points[min(points)]:.0%} at {min(points):g} tokens, "
        f"{points[max(points)]:.0%} at {max(points):g}"
        for name, points in accuracy.items()
    )
    picture = Picture(f"Accuracy of the recalled word against distance: {ends}.")
    axes = picture.panel()
    for index, (name, points) in enumerate(accuracy.items()):
        axes.plot(sorted(points), [points[distance] for distance in sorted(points)], marker="o", markersize=4,
                  label=name, **line_style(index))  # fmt: skip
    if chance is not None:
        axes.axhline(chance, color=GREY, linestyle=":", label="chance")
    axes.set(xlabel="distance in tokens", ylabel="accuracy", ylim=(0, 1.02))
    legend(axes)
    return picture
