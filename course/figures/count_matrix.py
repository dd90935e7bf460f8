"""The counts of adjacent symbols, as a table that can be smoothed and sampled from."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course.figures.figure import Figure, png


def count_matrix(
    counts: Tensor,
    symbols: Sequence[str],
    held_out: Tensor,
    *,
    caption: str = "Rows: the symbol before. Columns: the symbol after. The bluer, the more often.",
) -> Figure:
    """Show bigram counts (V, V), with held-out counts (V, V) on which to judge the smoothing.

    Row 0 and column 0 are the boundary of a word. Raises ValueError if shapes and symbols do not match.
    """
    table, held_out_table = checked(counts, symbols), checked(held_out, symbols)
    row, column = divmod(int(torch.tensor(table).argmax()), len(symbols))
    return Figure(
        name="count_matrix",
        data={"symbols": list(symbols), "counts": table, "held_out": held_out_table},
        alt=f"Table of {len(symbols)} by {len(symbols)} counts; the largest is “{symbols[row]}” before "
        f"“{symbols[column]}”, {table[row][column]} times.",
        caption=caption,
        picture=png(table_picture(table, symbols)),
    )


def checked(table: Tensor, symbols: Sequence[str]) -> list[list[int]]:
    """The table as whole numbers, or an error that says which shape was expected."""
    if tuple(table.shape) != (len(symbols), len(symbols)):
        raise ValueError(
            f"expected counts of shape ({len(symbols)}, {len(symbols)}), got {tuple(table.shape)}"
        )
    return table.long().tolist()


def table_picture(counts: list[list[int]], symbols: Sequence[str]):
    """The fallback picture."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(6, 6))
    axes.imshow(torch.tensor(counts).sqrt().numpy(), cmap="Blues")
    axes.set_xticks(range(len(symbols)), symbols)
    axes.set_yticks(range(len(symbols)), symbols)
    axes.set(xlabel="after", ylabel="before")
    return drawing
