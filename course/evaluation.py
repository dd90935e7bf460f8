"""How good is a language model? Every answer comes from the negative log-probability of held-out text.

Totals are added up before anything is divided, so the result does not depend on how the text was split into
batches. Translations are judged by BLEU (Papineni et al. 2002, through sacrebleu), alignments by the error
rate of Och and Ney (2003), "A systematic comparison of various statistical alignment models", section 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from course.data.vocabulary import Batch
from course.language_model import LanguageModel
from course.shapes import Float, Int, Tensor

Link = tuple[int, int]  # (position in the source, position in the target)


@dataclass(frozen=True)
class Score:
    """The negative log-probability of a text: in total, per token, per byte, as perplexity, above a floor."""

    nll: float  # nats, of all tokens together
    n_tokens: int

    def __post_init__(self) -> None:
        if self.n_tokens < 1:
            raise ValueError(f"n_tokens: expected at least one predicted token, got {self.n_tokens}")

    def __add__(self, other: Score) -> Score:
        return Score(self.nll + other.nll, self.n_tokens + other.n_tokens)

    @property
    def cross_entropy(self) -> float:
        """Nats per token."""
        return self.nll / self.n_tokens

    @property
    def bits_per_token(self) -> float:
        return self.cross_entropy / math.log(2)

    @property
    def perplexity(self) -> float:
        """e^(nats per token) = 2^(bits per token): the number of equally likely words with this entropy."""
        return math.exp(self.cross_entropy) if self.cross_entropy < 700 else math.inf

    def bits_per_byte(self, n_bytes: int) -> float:
        """Bits per UTF-8 byte: comparable between tokenizers, since a text always has the same bytes."""
        return self.nll / math.log(2) / n_bytes

    def percent_above(self, floor: Score) -> float:
        """Distance from the floor, which must have been measured on the same tokens."""
        if self.n_tokens != floor.n_tokens:
            raise ValueError(
                f"floor: expected a score of the same {self.n_tokens} tokens, got one of {floor.n_tokens}"
            )
        return 100 * (self.nll / floor.nll - 1)


def target_nll(
    log_probs: Float[Tensor, "batch time vocab"], targets: Int[Tensor, "batch time"]
) -> Float[Tensor, "batch time"]:
    """−log P(target) in nats at every position."""
    return -log_probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def story_nll(model: LanguageModel, stories: Batch, batch_size: int = 100) -> Float[Tensor, " stories"]:
    """−log P of each sequence given its first token, in nats, float64, on the CPU."""
    return token_nll(model, stories, batch_size).sum(dim=1)


@torch.no_grad()
def token_nll(model: LanguageModel, stories: Batch, batch_size: int = 100) -> Float[Tensor, "stories time"]:
    """−log P of each token but the first, in nats, float64, on the CPU; 0 for padding.

    A module is switched to evaluation mode and back, and gets the tokens on the device of its parameters.
    """
    rows = []
    with evaluating(model) as device:
        for first in range(0, len(stories), batch_size):
            tokens = stories.tokens[first : first + batch_size].to(device)
            mask = stories.mask[first : first + batch_size, 1:].to(device)
            losses = target_nll(model(tokens[:, :-1]), tokens[:, 1:])  # (B, T − 1)
            # Not multiplied by the mask: padding may be impossible, and ∞ · 0 is NaN.
            losses = losses.masked_fill(~mask, 0.0)
            rows.append(losses.cpu().double())
    return torch.cat(rows)


def score(model: LanguageModel, stories: Batch, batch_size: int = 100) -> Score:
    """Score every real token of every sequence except the first, which is given.

    Raises ValueError if no sequence has a token to predict.
    """
    n_tokens = int(stories.mask[:, 1:].sum())
    return Score(float(story_nll(model, stories, batch_size).sum()), n_tokens)


@contextmanager
def evaluating(model: object) -> Iterator[torch.device]:
    """Switch dropout off inside the block and restore it afterwards; yields the device of the parameters.

    A model that is not a module has neither.
    """
    if not isinstance(model, nn.Module):
        yield torch.device("cpu")
        return
    was_training = model.training
    model.eval()
    try:
        tensors = [*model.parameters(), *model.buffers()]
        yield tensors[0].device if tensors else torch.device("cpu")
    finally:
        model.train(was_training)


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Corpus BLEU in percent, one reference per translation, by sacrebleu with its default settings.

    Raises ModuleNotFoundError, with the command to run, if sacrebleu is missing.
    """
    if len(translations) != len(references) or not translations:
        raise ValueError(
            "translations, references: expected equally many and at least one, "
            f"got {len(translations)} and {len(references)}"
        )
    try:
        from sacrebleu import corpus_bleu
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("BLEU needs the package sacrebleu: pip install sacrebleu") from missing
    return corpus_bleu(list(translations), [list(references)]).score


def alignment_error_rate(
    found: Iterable[Iterable[Link]],
    sure: Iterable[Iterable[Link]],
    possible: Iterable[Iterable[Link]] | None = None,
) -> float:
    """1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), counted over all sentence pairs together; 0 is perfect.

    A: the links found, S: links that must be there, P ⊇ S: links that may be there (by default, P = S).
    """
    hits, size = 0, 0
    sure = list(sure)
    triples = zip(found, sure, sure if possible is None else possible, strict=True)
    for found_links, sure_links, possible_links in ((set(a), set(s), set(p)) for a, s, p in triples):
        possible_links |= sure_links
        hits += len(found_links & sure_links) + len(found_links & possible_links)
        size += len(found_links) + len(sure_links)
    if size == 0:
        raise ValueError("found, sure: expected at least one link, got none")
    return 1 - hits / size
