"""The ladder's models packed into a page: small enough to embed, and read by `models/*.mjs`."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from course.data.story_language import StoryLanguage
from course.data.story_sources import FreshThing, Source, Words, shares
from course.language_model import LanguageModel
from course.models import (
    GPT,
    FeedForwardLanguageModel,
    KneserNey,
    NGramCounts,
    RecurrentLanguageModel,
    SelfAttentionLanguageModel,
)

FINENESS = 0.1  # the step between two values of a weight, as a share of the matrix's standard deviation
LARGEST = 127  # of the whole numbers that stand for weights


def step(tensor: Tensor, fineness: float = FINENESS) -> float:
    """The unit in which a tensor's values are rounded: fine for vectors, coarser for matrices."""
    finest = tensor.abs().max().item() / LARGEST
    coarse = fineness * tensor.std().item() if tensor.ndim > 1 else 0.0
    return max(finest, coarse) or 1.0


def rounded(state: Mapping[str, Tensor], fineness: float = FINENESS) -> dict[str, Tensor]:
    """The tensors as the page will read them: rounded to whole multiples of each one's step."""
    return {
        name: (tensor.float() / step(tensor, fineness)).round() * step(tensor, fineness)
        for name, tensor in state.items()
    }


def packed(data: bytes) -> str:
    """Bytes, deflated, in base64."""
    return base64.b64encode(zlib.compress(data, 9)).decode()


def parcels(models: Mapping[str, LanguageModel], bos: int) -> dict[str, Any]:
    """Models by title, as `models/ladder.mjs` reads them: the counting models together, and each network.

    Raises ValueError for a model that a page cannot run.
    """
    counting = {title: model for title, model in models.items() if isinstance(model, KneserNey)}
    networks = {title: model for title, model in models.items() if title not in counting}
    return {
        "counted": ngrams_parcel(counting) if counting else None,
        "networks": [{"title": title, **network_parcel(model)} for title, model in networks.items()],
        "vocabulary": next(iter(models.values())).vocab_size,
        "bos": bos,
    }


def kind_and_sizes(model: LanguageModel) -> tuple[str, dict[str, int]]:
    """The module that runs this network in a page, and the sizes that its weights' shapes do not show."""
    match model:
        case FeedForwardLanguageModel(direct=None):
            return "feedforward", {}
        case RecurrentLanguageModel(config=config) if config.n_layers == 1:
            return config.cell, {}
        case SelfAttentionLanguageModel(config=config):
            return "attention", {"nHeads": config.n_heads}
        case GPT(config=config) if config.positions == "rotary":
            return "gpt", {"nHeads": config.n_heads, "nLayers": config.n_layers}
    raise ValueError(f"models: expected networks as on the ladder, got {type(model).__name__}")


def network_parcel(model: LanguageModel, fineness: float = FINENESS) -> dict[str, Any]:
    """A network's weights: one signed byte each, times its tensor's step."""
    kind, sizes = kind_and_sizes(model)
    weights = cast(nn.Module, model).state_dict()
    steps = {name: step(tensor, fineness) for name, tensor in weights.items()}
    whole = [(tensor / steps[name]).round().to(torch.int8) for name, tensor in weights.items()]
    return {
        "kind": kind,
        "sizes": sizes,
        "text": packed(b"".join(part.numpy().tobytes() for part in whole)),
        "tensors": [[name, list(tensor.shape), steps[name]] for name, tensor in weights.items()],
    }


def ngrams_parcel(models: Mapping[str, KneserNey]) -> dict[str, Any]:
    """The n-grams of the highest order, from which the others' follow, and each model's discounts.

    Raises ValueError unless all have counted the same text, of fewer than 256 different words.
    """
    highest = max(models.values(), key=lambda model: model.counts.order)
    columns, counts = ngram_columns(highest.counts)
    same = {(int(model.counts.table(0)[2].sum()), model.vocab_size) for model in models.values()}
    if len(same) > 1 or highest.vocab_size > 256 or int(counts.max()) >= 1 << 16:
        raise ValueError("models: expected counts of one text, below 65,536, of at most 256 words")
    parts = [*columns, counts % 256, counts // 256]
    return {
        "text": packed(b"".join(part.to(torch.uint8).numpy().tobytes() for part in parts)),
        "order": len(columns),
        "size": len(counts),
        "models": [[title, model.discounts] for title, model in models.items()],
    }


def ngram_columns(counts: NGramCounts) -> tuple[list[Tensor], Tensor]:
    """The n-grams of the highest order as columns of tokens, oldest first, in sorted order; their counts."""
    V, order = counts.vocab_size, counts.order
    _, ngram, count, _ = counts.table(order - 1)
    newest, context, older = ngram % V, ngram // V, []
    for k in range(order - 1, 0, -1):
        key = counts.table(k)[0][context]
        older.append(key % V)
        context = key // V
    return [*older, newest], count


def grammar(language: StoryLanguage) -> dict[str, Any]:
    """The story language for `story_language.mjs`: the automaton, its sources and the words' roles."""
    automaton, vocabulary, lexicon = language.automaton, language.vocabulary, language.config.lexicon
    genders = ((lexicon.women, "she"), (lexicon.men, "he"))
    return {
        "vocabulary": language.vocab_size,
        "words": list(vocabulary.words),
        "kinds": [source_data(source) for source in automaton.sources],
        "nodes": [
            {
                "source": int(source),
                "next": [[int(to), round(float(row[to]), 12)] for to in row.nonzero()[:, 0]],
            }
            for source, row in zip(automaton.source_of, automaton.follow, strict=True)
        ],
        "roles": {
            "verbs": vocabulary.encode(lexicon.verbs),
            "things": [vocabulary.encode(things) for things in lexicon.things],
            "pronounOf": {
                token: vocabulary.token(pronoun)
                for names, pronoun in genders
                for token in vocabulary.encode(names)
            },
        },
    }


def source_data(source: Source) -> dict[str, Any]:
    """A source by its name, with its words and their probabilities if it has them."""
    data: dict[str, Any] = {"kind": type(source).__name__}
    if isinstance(source, Words | FreshThing):
        data["weights"] = [round(share, 12) for share in shares(source.weights)]
    if isinstance(source, Words):
        data["tokens"] = list(source.tokens)
    return data
