"""A translator's attention beside the gold alignment, with the alignment error rate of what is shown."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course.data.translation_pair import SentencePair, alignment_matrix
from course.figures.attention import checked
from course.figures.figure import Figure, png


def alignment(
    weights: Sequence[Tensor],
    pairs: Sequence[SentencePair],
    *,
    caption: str = (
        "A target word's weights tell which source words it was written from. Move the line from "
        "which a link counts."
    ),
) -> Figure:
    """Explore a translator's attention, sentence by sentence, and how often it finds the right word.

    weights: for each pair the rows of its target words, at least (T, S); rows beyond T (the one that
    chooses </s>) and columns beyond S (padding) are left out. The weights may come from any model.
    Raises ValueError if the numbers of sentences differ, or weights are too small or not distributions.
    """
    if len(weights) != len(pairs) or not pairs:
        raise ValueError(f"expected one map for each pair, got {len(weights)} maps and {len(pairs)} pairs")
    maps = [of_the_words(each, pair) for each, pair in zip(weights, pairs, strict=True)]
    sentences = [sentence(each, pair) for each, pair in zip(maps, pairs, strict=True)]
    strongest = maps[0].argmax(-1).tolist()
    told = ", ".join(
        f"{word} to {pairs[0].source[s]}" for word, s in zip(pairs[0].target, strongest, strict=True)
    )
    return Figure(
        name="alignment",
        data={"sentences": sentences},
        alt=f"Alignments of {len(pairs)} sentences. In the first, target words look most at: {told}.",
        caption=caption,
        picture=png(map_with_gold(maps[0], pairs[0])),
    )


def of_the_words(weights: Tensor, pair: SentencePair) -> Tensor:
    """The rows and columns of real words, (T, S)."""
    T, S = len(pair.target), len(pair.source)
    if weights.dim() != 2 or weights.shape[0] < T or weights.shape[1] < S:
        raise ValueError(f"expected weights of at least shape ({T}, {S}), got {tuple(weights.shape)}")
    return checked(weights[:T, :S], pair.target, pair.source)[0]


def sentence(weights: Tensor, pair: SentencePair) -> dict:
    """The data that the module needs for one sentence."""
    return {
        "source": list(pair.source),
        "target": list(pair.target),
        "weights": [[round(weight, 3) for weight in row] for row in weights.tolist()],
        "sure": [list(link) for link in pair.sure],
        "possible": [list(link) for link in pair.alignment],
    }


def map_with_gold(weights: Tensor, pair: SentencePair):
    """The fallback picture: the map of one sentence; the gold links are outlined."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    T, S = weights.shape
    drawing, axes = plt.subplots(figsize=(1.8 + 0.36 * S, 1.2 + 0.28 * T))
    axes.imshow(weights.numpy(), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for t, s in torch.nonzero(alignment_matrix(pair)).tolist():
        axes.add_patch(Rectangle((s - 0.5, t - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=1.5))
    axes.set_xticks(range(S), pair.source, rotation=60, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(T), pair.target)
    axes.xaxis.tick_top()
    axes.set_xlabel("orange outlines: the gold alignment")
    return drawing
