"""The quality of translations (exact matches, words in place, BLEU) and the error of an attention map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from course.data.translation_pair import SentencePair
from course.data.vocabulary import Vocabulary
from course.evaluation import Link, alignment_error_rate, evaluating
from course.translation_experiment.bleu import corpus_bleu
from course.translation_experiment.parallel_text import ParallelText, parallel_text


class Translates(Protocol):
    """The interface of a translator, such as `Seq2Seq` and the Transformer's `Translator`."""

    def translate(self, source: Tensor, bos: int, eos: int, max_length: int) -> Tensor: ...


class Aligns(Protocol):
    """The additional interface of a translator with attention."""

    def alignment(self, source: Tensor, target: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Quality:
    """Free-running translations against the right translation of each source; all but BLEU are fractions."""

    n_sentences: int
    exact_match: float
    token_accuracy: float
    bleu: float


def longest_translation(n_source_words: int) -> int:
    """The length at which free-running generation stops: no right translation is that long."""
    return 2 * n_source_words + 5


def translations(
    model: Translates, text: ParallelText, vocabulary: Vocabulary, batch_size: int = 100
) -> list[list[str]]:
    """The model's greedy translation of each source, in words."""
    written: list[list[str]] = []
    with evaluating(model) as device:
        for first in range(0, len(text), batch_size):
            lengths = text.source.lengths[first : first + batch_size]
            source = text.source.tokens[first : first + batch_size, : int(lengths.max())].to(device)
            stop = longest_translation(source.shape[1])
            written += [
                vocabulary.decode(row)
                for row in model.translate(source, vocabulary.bos, vocabulary.eos, stop).tolist()
            ]
    return written


def share_in_place(written: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> float:
    """Fraction of the right words at the right position; a word left out shifts all that follow it."""
    n_right = sum(len(words) for words in right)
    if n_right == 0:
        raise ValueError("right: expected at least one word, got none")
    pairs = zip(written, right, strict=True)
    return sum(a == b for one, other in pairs for a, b in zip(one, other, strict=False)) / n_right


def quality(written: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> Quality:
    """Compare written translations with the right ones."""
    exact = sum(list(one) == list(other) for one, other in zip(written, right, strict=True))
    return Quality(
        n_sentences=len(right),
        exact_match=exact / len(right),
        token_accuracy=share_in_place(written, right),
        bleu=corpus_bleu(written, right),
    )


def most_looked_at(weights: Tensor, n_targets: int) -> list[Link]:
    """One link (source, target) for each target word: the source word with the largest weight, (T, S)."""
    return [(int(place), t) for t, place in enumerate(weights[:n_targets].argmax(dim=-1))]


def attention_links(
    model: Aligns,
    pairs: Sequence[SentencePair],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    batch_size: int = 100,
) -> list[list[Link]]:
    """The links by largest attention weight, while the model reads the right translation."""
    links: list[list[Link]] = []
    with torch.no_grad(), evaluating(model) as device:
        for first in range(0, len(pairs), batch_size):
            some = pairs[first : first + batch_size]
            text = parallel_text(
                [(pair.source, pair.target) for pair in some], source_vocabulary, target_vocabulary
            )
            weights = model.alignment(text.source.tokens.to(device), text.target.tokens[:, :-1].to(device))
            links += [
                most_looked_at(each, len(pair.target)) for each, pair in zip(weights.cpu(), some, strict=True)
            ]
    return links


def error_rate(links: Sequence[Sequence[Link]], pairs: Sequence[SentencePair]) -> float:
    """Alignment error rate against the gold alignment's sure and possible links."""
    return alignment_error_rate(links, [pair.sure for pair in pairs], [pair.alignment for pair in pairs])
