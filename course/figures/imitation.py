"""The imitation game: real texts beside a model's, and a reader who has to tell them apart."""

from collections.abc import Sequence
from random import Random

from course.figures.figure import Figure, png


def imitation(
    real: Sequence[str],
    imitated: Sequence[str],
    *,
    imitator: str = "a model",
    seed: int = 0,
    caption: str = "Turing's question (1950), asked about a few sentences.",
) -> Figure:
    """Show pairs of texts, one real and one imitated, in an order drawn from the seed.

    Raises ValueError unless there are as many imitations as real texts, and at least one.
    """
    if not real or len(real) != len(imitated):
        raise ValueError(f"expected as many imitations as real texts, got {len(imitated)} and {len(real)}")
    rng = Random(seed)
    rounds = []
    for pair in zip(real, imitated, strict=True):
        side = rng.randrange(2)
        rounds.append((list(pair if side == 0 else pair[::-1]), side))
    first, _ = rounds[0]
    return Figure(
        name="imitation",
        data={"rounds": [{"texts": texts, "real": side} for texts, side in rounds], "imitator": imitator},
        alt=f"Two texts, one real and one by {imitator}. Left: “{first[0]}” Right: “{first[1]}”",
        caption=caption,
        picture=png(side_by_side(first)),
    )


def side_by_side(texts: Sequence[str]):
    """The fallback picture: the first pair."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(1, 2, figsize=(8, 2))
    for axis, text in zip(axes, texts, strict=True):
        axis.text(0.02, 0.95, text, wrap=True, va="top", fontsize=9)
        axis.set(xticks=[], yticks=[])
    return drawing
