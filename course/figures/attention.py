"""Attention weights as an interactive heat map, with the gold alignment if it is known."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course.figures.figure import Figure, png


def attention(
    weights: Tensor,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    gold: Sequence[tuple[int, int]] | None = None,
    start: tuple[int, int] | None = None,
    caption: str = "Attention weights: each row is one query's distribution over the keys.",
) -> Figure:
    """Show any attention weights, including the reader's own.

    weights: (queries, keys) or (heads, queries, keys), each row summing to one. keys default to the queries
    (self-attention). gold: pairs (query, key) that are known to belong together. start: the head and the
    query that are chosen at first; by default the first head, and the query that looks farthest back in it.
    Raises ValueError if shapes and names do not match, if a row is not a distribution, or if the start is
    outside.
    """
    keys = queries if keys is None else keys
    maps = checked(weights, queries, keys)
    if start and not (start[0] in range(len(maps)) and start[1] in range(len(queries))):
        raise ValueError(
            f"start: expected one of {len(maps)} heads and one of {len(queries)} queries, got {start}"
        )
    strongest = maps[0].argmax(-1).tolist()
    pairs = ", ".join(f"{query} to {keys[key]}" for query, key in zip(queries, strongest, strict=True))
    return Figure(
        name="attention",
        data={
            "weights": [[[round(w, 4) for w in row] for row in head] for head in maps.tolist()],
            "queries": list(queries),
            "keys": list(keys),
            "gold": [list(pair) for pair in gold] if gold is not None else None,
            "start": start,
            "heads": [f"{head + 1}" for head in range(len(maps))],
        },
        alt=f"Heat map of {len(queries)} queries by {len(keys)} keys. Strongest in the first map: {pairs}.",
        caption=caption,
        picture=png(heat_map(maps[0], queries, keys)),
    )


def checked(weights: Tensor, queries: Sequence[str], keys: Sequence[str]) -> Tensor:
    """The weights as (heads, queries, keys) on the CPU, or an error that says what does not match."""
    maps = torch.as_tensor(weights).detach().to("cpu", torch.float32)
    maps = maps.unsqueeze(0) if maps.dim() == 2 else maps
    if maps.dim() != 3 or maps.shape[1:] != (len(queries), len(keys)):
        raise ValueError(
            f"expected weights of shape ({len(queries)}, {len(keys)}) "
            f"or (heads, {len(queries)}, {len(keys)}), got {tuple(torch.as_tensor(weights).shape)}"
        )
    if not torch.allclose(maps.sum(-1), torch.ones(()), atol=1e-2):
        raise ValueError("each query's weights must sum to one; were these scores before the softmax?")
    return maps


def heat_map(weights: Tensor, queries: Sequence[str], keys: Sequence[str]):
    """The fallback picture: weights (queries, keys)."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(1.5 + 0.4 * len(keys), 1.2 + 0.4 * len(queries)))
    axes.imshow(weights.numpy(), cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(keys)), keys, rotation=45, ha="left")
    axes.set_yticks(range(len(queries)), queries)
    axes.xaxis.tick_top()
    axes.set_ylabel("queries")
    return drawing
