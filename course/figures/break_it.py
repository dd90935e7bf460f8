"""A trained Transformer to break, running in the page: heads, positions, the mask, any weight."""

from __future__ import annotations

import math

import torch

from course.data.story_language import StoryLanguage
from course.data.vocabulary import Batch
from course.evaluation import token_nll
from course.figures.figure import Figure, png
from course.figures.parcels import network_parcel
from course.ladder.kinds import kinds
from course.models import GPT, attention_maps
from course.shapes import Float, Tensor

FINENESS = 0.05  # weights are edited here, so they are rounded less
LONGEST = 26  # words of a story whose attention is drawn


def break_it(
    model: GPT,
    language: StoryLanguage,
    stories: Batch,
    *,
    caption: str = "Press a map to remove its head; shift a word's position, open the mask, change a weight.",
) -> Figure:
    """Show what each part of a trained GPT contributes: bits above the floor on these stories without it.

    `stories`: about a dozen that the model has not seen; the page reads them all after every change. Raises
    ValueError for a GPT whose positions are not rotary, or if a story is shorter than 26 words.
    """
    lengths = stories.mask.sum(dim=1).tolist()
    if min(lengths) < LONGEST:
        raise ValueError(f"stories: expected at least {LONGEST} words each, got one of {min(lengths)}")
    floor, nll = token_nll(language, stories), token_nll(model, stories)  # (N, T − 1)
    above = float((nll - floor).sum() / stories.mask[:, 1:].sum()) / math.log(2)
    rows = zip(stories.tokens.tolist(), floor.tolist(), lengths, strict=True)
    texts = [(tokens[:n], [round(value, 5) for value in least[: n - 1]]) for tokens, least, n in rows]
    with attention_maps(model) as looks:
        model(stories.tokens[:1, :LONGEST])
    encode = language.vocabulary.encode
    return Figure(
        name="break_it",
        data={
            "parcel": network_parcel(model, FINENESS),
            "stories": [tokens for tokens, _ in texts],
            "floors": [least for _, least in texts],
            "kinds": [[kind, encode(words)] for kind, words in kinds(language.config.lexicon).items()],
            "words": list(language.vocabulary.words),
        },
        alt=f"Attention maps of the intact Transformer, which is {above:.3f} bits per word above the floor.",
        caption=caption,
        picture=png(maps([weights.detach() for weights in looks.values()])),
    )


def maps(weights: list[Float[Tensor, "1 heads queries keys"]]):
    """The fallback picture: the attention maps of the first story, a row for each layer."""
    import matplotlib.pyplot as plt

    layers = torch.cat(weights)  # (layers, heads, T, T)
    drawing, axes = plt.subplots(*layers.shape[:2], figsize=(7, 1.8 * len(layers)), squeeze=False)
    for layer, row in enumerate(axes):
        for head, panel in enumerate(row):
            panel.imshow(layers[layer, head], cmap="Blues", vmin=0, vmax=1)
            panel.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=8)
            panel.set_xticks([])
            panel.set_yticks([])
    return drawing
