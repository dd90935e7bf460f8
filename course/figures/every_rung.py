"""Every model of the ladder beside the true distribution, computed in the page."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import torch

from course.data.story_language import StoryLanguage
from course.figures.figure import Figure, png
from course.figures.parcels import grammar, parcels
from course.language_model import LanguageModel
from course.shapes import Float, Tensor

MOST_DATA = 700_000  # bytes: a page has room for one figure of this size
BEGINNINGS = {
    "Which thing?": "nora had apples , lamps , tickets , drums and hats . the girls sing . she lit",
    "Sing or sings?": "ben had plums , cats , boots , cups and kites . the girl near the mills",
    "She or he?": "ben had plums , cats , boots , cups and kites . the girls sing .",
    "Close the bracket": "ivy had nuts , hens , maps , bells and roses . she fed hens ( they were old [ they"
    " were heavy",
    "Who said it?": 'omar had tales , goats , coats , nets and jars . " who fed goats and read tales ? " '
    "said",
    "An empty page": "",
}


def every_rung(
    models: Mapping[str, LanguageModel],
    language: StoryLanguage,
    bits_per_token: Mapping[str, float],
    floor: float,
    *,
    beginnings: Mapping[str, str] = BEGINNINGS,
    caption: str = "Click a word or type one: the bars show what each model expects. Then let each continue.",
) -> Figure:
    """Show what models expect after any beginning of a story, beside the true distribution.

    `models`: by title, in the order of the ladder, as `course.ladder` builds them; `bits_per_token`: their
    score on unseen stories, by title, from the record. Raises ValueError for a model that a page cannot run,
    or if the titles differ; UnknownWord for a beginning outside the language.
    """
    if list(models) != list(bits_per_token):
        raise ValueError(f"expected a score for each of {list(models)}, got {list(bits_per_token)}")
    vocabulary = language.vocabulary
    asked = {asks: [vocabulary.bos, *vocabulary.encode(text.split())] for asks, text in beginnings.items()}
    asks, tokens = next(iter(asked.items()))
    probs = next_word(models, language, tokens)
    likeliest = int(probs["the truth"].argmax())
    word = vocabulary.words[likeliest]
    listed = ", ".join(f"{title} {row[likeliest]:.2f}" for title, row in probs.items())
    return Figure(
        name="every_rung",
        data={
            "models": parcels(models, vocabulary.bos),
            "grammar": grammar(language),
            "bits": {title: round(bits, 4) for title, bits in bits_per_token.items()},
            "floor": round(floor, 4),
            "beginnings": [{"asks": asks, "tokens": tokens} for asks, tokens in asked.items()],
            "end": vocabulary.eos,
            "id": hashlib.sha256(repr(beginnings).encode()).hexdigest()[:8],
        },
        alt=f"{asks} After “… {' '.join(vocabulary.words[token] for token in tokens[-4:])}”, "
        f"the probability of “{word}”: {listed}.",
        caption=caption,
        picture=png(bars(probs, vocabulary.words)),
        most_data=MOST_DATA,
    )


@torch.no_grad()
def next_word(
    models: Mapping[str, LanguageModel], language: StoryLanguage, tokens: Sequence[int]
) -> dict[str, Float[Tensor, " vocab"]]:
    """The next word's probabilities after these tokens, by the true model and by each model."""
    text = torch.tensor([list(tokens)])
    return {title: model(text)[0, -1].exp() for title, model in {"the truth": language, **models}.items()}


def bars(probs: Mapping[str, Tensor], words: Sequence[str], n_words: int = 6):
    """The fallback picture: for each model, the probabilities of the words that matter here."""
    import matplotlib.pyplot as plt

    together = torch.stack(list(probs.values()))  # (models, V)
    chosen = (together[0] + together.mean(0) / 2).topk(n_words).indices.tolist()
    drawing, axes = plt.subplots(1, n_words, figsize=(8, 0.6 + 0.3 * len(probs)), sharey=True)
    for panel, token in zip(axes, chosen, strict=True):
        colours = ["#1b1f24" if title == "the truth" else "#0072B2" for title in probs]
        panel.barh(list(probs), together[:, token].tolist(), color=colours)
        panel.set(title=words[token], xlim=(0, 1), xticks=(0, 1))
    axes[0].invert_yaxis()
    return drawing
