"""One word's way through one layer of a trained Transformer, product by product, with the real numbers."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch

from course.data.story_language import StoryLanguage
from course.figures.every_rung import BEGINNINGS
from course.figures.figure import Figure, png
from course.figures.parcels import network_parcel, rounded
from course.models import GPT, attention_maps
from course.shapes import Float, Tensor


@torch.no_grad()
def walk(
    model: GPT,
    language: StoryLanguage,
    *,
    beginnings: Mapping[str, str] = BEGINNINGS,
    caption: str | None = None,
) -> Figure:
    """Follow a word of a story through the products of a layer, from its query to the logits.

    It begins at the head that, from the last word of the first story, looks hardest at the word that the
    model expects next; the caption says so, unless another is given. Raises ValueError for a GPT whose
    positions are not rotary, or if that word is not in the story.
    """
    encode, words = language.vocabulary.encode, language.vocabulary.words
    stories = {asks: [language.vocabulary.bos, *encode(text.split())] for asks, text in beginnings.items()}
    tokens = next(iter(stories.values()))
    shown = copy.deepcopy(model)
    shown.load_state_dict(rounded(model.state_dict()))  # as the page has it
    with attention_maps(shown) as looks:
        probs = shown(torch.tensor([tokens]))[0, -1].exp()  # (V,)
    expected = int(probs.argmax())
    if expected not in tokens:
        raise ValueError(f"beginnings: expected {words[expected]!r} in the first story, which comes next")
    weights = torch.cat([*looks.values()])[:, :, -1]  # (layers, heads, T): where the last word looks
    layer, head, place = hardest(weights, tokens, expected)
    share, sure = percent(weights[layer, head, place].item()), percent(probs[expected].item())
    found = (
        f"Head {head + 1} of layer {layer + 1} gives {share} of its weight at “{words[tokens[-1]]}” to "
        f"“{words[expected]}”, and that is the word the model then expects ({sure})."
    )
    return Figure(
        name="walk",
        data={
            "parcel": network_parcel(model),
            "words": list(words),
            "beginnings": [{"asks": asks, "tokens": each} for asks, each in stories.items()],
            "start": {"layer": layer, "head": head},
        },
        alt=f"The weights of that head over the words of the story. {found}",
        caption=caption or f"{found} Step through the products that make it so.",
        picture=png(bars(weights[layer, head], [words[token] for token in tokens])),
    )


def percent(share: float) -> str:
    """0.9964 → "99.6 %", which no line ends within."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def hardest(
    weights: Float[Tensor, "layers heads time"], tokens: list[int], token: int
) -> tuple[int, int, int]:
    """The layer, the head and the position of the largest weight on a token."""
    elsewhere = torch.tensor(tokens) != token
    at = int(weights.masked_fill(elsewhere, -1).argmax())
    _, n_heads, T = weights.shape
    return at // (n_heads * T), at // T % n_heads, at % T


def bars(weights: Float[Tensor, " time"], words: list[str]):
    """The fallback picture: one head's weight on each word."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(7, 2.2))
    axes.bar(range(len(words)), weights.tolist(), color="#0072B2")
    axes.set_xticks(range(len(words)), words, rotation=60, ha="right")
    axes.set_ylabel("weight")
    return drawing
