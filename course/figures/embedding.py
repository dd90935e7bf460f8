"""Words as points in a plane, with the nearest neighbours of each in the full space."""

from collections.abc import Sequence

from torch import Tensor

from course.figures.figure import Figure, png


def embedding(
    vectors: Tensor,
    words: Sequence[str],
    *,
    start: str | None = None,
    n_neighbours: int = 8,
    caption: str = "Each word at its two principal coordinates; the bars are cosines.",
) -> Figure:
    """Show any embedding, vectors (V, D) of V words, and the words nearest to the chosen one.

    start: the word chosen at first (by default the first word). Raises ValueError if vectors and words do
    not match, or if `start` is not among the words.
    """
    words, start = list(words), words[0] if start is None else start
    if vectors.ndim != 2 or len(vectors) != len(words) or vectors.shape[1] < 2:
        raise ValueError(
            f"expected vectors of shape ({len(words)}, D) with D ≥ 2, got {tuple(vectors.shape)}"
        )
    if start not in words:
        raise ValueError(f"start: {start!r} is not among the {len(words)} words")
    vectors = vectors.detach().cpu().double()
    n_neighbours, chosen = min(n_neighbours, len(words) - 1), words.index(start)
    neighbours = ", ".join(words[i] for i in nearest(vectors, chosen)[:3])
    places = principal_coordinates(vectors)
    return Figure(
        name="embedding",
        data={
            "words": words,
            "vectors": rounded(vectors),
            "places": rounded(places),
            "start": chosen,
            "count": n_neighbours,
        },
        alt=f"{len(words)} words as points in a plane. Nearest to “{start}”: {neighbours}.",
        caption=caption,
        picture=png(plane(places, words)),
    )


def nearest(vectors: Tensor, chosen: int) -> list[int]:
    """All other words, in order of decreasing cosine with the chosen one."""
    directions = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=1e-12)
    order = (directions @ directions[chosen]).argsort(descending=True).tolist()
    return [i for i in order if i != chosen]


def principal_coordinates(vectors: Tensor) -> Tensor:
    """(V, 2): the coordinates of vectors (V, D) in their plane of largest variance."""
    _, _, directions = (vectors - vectors.mean(0)).svd()
    # A singular vector's sign is arbitrary and differs between machines: make its largest entry positive.
    signs = directions.gather(0, directions.abs().argmax(0, keepdim=True)).sign()
    return (vectors - vectors.mean(0)) @ (directions * signs)[:, :2]


def rounded(table: Tensor) -> list[list[float]]:
    return [[round(value, 4) for value in row] for row in table.tolist()]


def plane(places: Tensor, words: Sequence[str]):
    """The fallback picture: every word as a point, and the names that cover no other."""
    import matplotlib.pyplot as plt
    from matplotlib.transforms import Bbox

    drawing, axes = plt.subplots(figsize=(6, 6))
    across, up = places.T.tolist()
    axes.scatter(across, up, s=8, color="#0072B2")
    axes.set(xticks=[], yticks=[])
    drawing.draw_without_rendering()  # which settles where each point is
    taken: list[Bbox] = []
    for (x, y), word in zip(places.tolist(), words, strict=True):
        name = axes.annotate(word, (x, y), fontsize=7, xytext=(3, 2), textcoords="offset points")
        box = name.get_window_extent()
        if any(box.overlaps(other) for other in taken):
            name.remove()
        else:
            taken.append(box)
    return drawing
