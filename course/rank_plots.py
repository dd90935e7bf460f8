"""Plots of what samplers do to distributions over a large vocabulary, by the rank of the tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib import colormaps
from torch import Tensor

from course.plots import GREY, Picture, check_series
from course.sampling.distribution import entropy


def by_rank(before: Mapping[str, Tensor], after: Mapping[str, Mapping[str, Tensor]]) -> Picture:
    """Distributions after each sampler: a panel per context, a row per sampler, likely tokens on the left.

    `before[context]` and `after[sampler][context]` are logits (V,). Blue tokens gain probability, red ones
    lose it, the darkest by a factor of eight or more; grey ones are removed. Each row ends in the number of
    tokens left, the probability that they had before, and the entropy after.
    """
    check_series({name: list(of) for name, of in after.items()}, "after")
    told = "; ".join(
        f"{name}, {', '.join(f'{context} {_left(before[context], of[context])}' for context in before)}"
        for name, of in after.items()
    )
    picture = Picture(
        f"Tokens left, their probability before, and the entropy after: {told}.",
        size=(9.6, 0.9 + 0.3 * len(after)),
    )
    for index, (context, logits) in enumerate(before.items(), start=1):
        axes = picture.panel(1, len(before), index)
        rows = [_gains(logits, of[context]) for of in after.values()]
        edges = _rank_edges(len(logits))
        shades = colormaps["RdBu"].with_extremes(bad="#bdbdbd")
        axes.pcolormesh(edges + 1, np.arange(len(rows) + 1), np.ma.stack(rows), cmap=shades, vmin=-3, vmax=3)
        axes.set_yticks(np.arange(len(rows)) + 0.5, after if index == 1 else [""] * len(rows))
        axes.set(xscale="log", title=context, xlabel="rank of the token", ylim=(len(rows), 0))
        beside = [_left(logits, of[context]) for of in after.values()]
        for row, text in enumerate(["left · before · entropy", *beside], start=-1):
            axes.annotate(text, (1.02, row + 0.5), xycoords=("axes fraction", "data"),
                          va="center", color=GREY, fontsize=8)  # fmt: skip
    return picture


def _left(before: Tensor, after: Tensor) -> str:
    """How many tokens are possible after a sampler, the probability that they had before, and the entropy."""
    possible = after.isfinite()
    mass, bits = before.softmax(-1)[possible].sum(), entropy(after) / math.log(2)
    return f"{int(possible.sum()):,} · {mass:.0%} · {bits:.1f} bits"


def _rank_edges(n: int) -> np.ndarray:
    """Where bins of ranks begin, from 0 to n: one rank each at first, then wider and wider."""
    return np.unique(np.geomspace(1, n + 1, 64).round().astype(int)) - 1


def _gains(before: Tensor, after: Tensor) -> np.ndarray:
    """log₂ of each bin's probability after, relative to before; masked where all tokens are removed."""
    order, starts = before.argsort(descending=True), _rank_edges(len(before))[:-1]
    mass = [np.add.reduceat(each.double().softmax(-1)[order].numpy(), starts) for each in (before, after)]
    possible = np.logical_or.reduceat(after[order].isfinite().numpy(), starts)
    least = np.finfo(float).tiny  # a penalty can press a probability below every number
    return np.ma.masked_where(~possible, np.log2(np.maximum(mass[1], least) / mass[0]))
