"""Where the bits go: the distance from the floor for each kind of word that came next."""

from __future__ import annotations

import math

import torch

from course.data.story_language import StoryLanguage
from course.data.story_words import Lexicon
from course.data.vocabulary import Batch
from course.shapes import Float, Tensor


def kinds(lexicon: Lexicon) -> dict[str, tuple[str, ...]]:
    """The kinds of words that ask different things of a model: order, agreement, a stack, a memory."""
    return {
        "things": tuple(thing for things in lexicon.things for thing in things),
        "verbs": lexicon.sings + lexicon.sing,
        "she, he": ("she", "he"),
        "names": lexicon.women + lexicon.men,
        "quotes": ('"',),
        "brackets": tuple("()[]"),
        "full stops": (".",),
    }


def bits_by_kind(
    nll: Float[Tensor, "stories time"],
    floor: Float[Tensor, "stories time"],
    stories: Batch,
    language: StoryLanguage,
) -> dict[str, float]:
    """Mean distance from the floor, in bits, over all places where a word of each kind came next.

    `nll` and `floor`: −log P of tokens 1 … T − 1 in nats, by a model and by the true one. A mean may be below
    zero, because a model that expects a kind too often gains at the places where it did come. A kind that
    never came is left out.
    """
    came, is_real = stories.tokens[:, 1:], stories.mask[:, 1:]
    above = (nll - floor) / math.log(2)
    found = {}
    for kind, words in kinds(language.config.lexicon).items():
        chosen = torch.isin(came, torch.tensor(language.vocabulary.encode(words))) & is_real
        if chosen.any():
            found[kind] = above[chosen].mean().item()
    return found
