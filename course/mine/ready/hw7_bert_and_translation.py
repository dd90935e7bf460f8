"""Ready-made parts of homework 7: a batch with hidden words, its loss and mask, and a trained translator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import Vocabulary, pad_sequences
from course.models.masks import padding_mask as encoder_mask
from course.models.translator import Translator, TranslatorConfig
from course.training import Example, TrainingConfig, train

__all__ = ["encoder_mask", "masked_batch", "mlm_loss", "translate"]

IGNORED = -100
SENTENCES = TranslationConfig(min_length=4, max_length=7)


def masked_batch(
    tokens: Tensor, is_special: Tensor, mask_token: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """As in exercise 3."""
    ordinary = torch.arange(len(is_special))[~is_special]
    others = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator)]
    draw = torch.rand(tokens.shape, generator=generator).masked_fill(is_special[tokens], 1.0)
    targets = tokens.masked_fill(draw >= 0.15, IGNORED)
    inputs = torch.where(draw < 0.12, mask_token, torch.where(draw < 0.135, others, tokens))
    return inputs, targets


def mlm_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """As in exercise 4."""
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=IGNORED)


def translate(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """As in exercise 23, by a translator that is trained for half a minute at the first call."""
    model, english, french = trained_translator()
    source = pad_sequences([english.encode(words) for words in sentences], english.pad).tokens
    return [french.decode(row) for row in model.translate(source, french.bos, french.eos, 40).tolist()]


@cache
def trained_translator(n_steps: int = 400) -> tuple[Translator, Vocabulary, Vocabulary]:
    """A small Transformer for sentences of 4 to 7 words, with its two vocabularies."""
    english, french = translation_vocabularies(SENTENCES.lexicon)
    pairs = translation_pairs(SENTENCES, 4000, Random(7))
    source = pad_sequences([english.encode(pair.source) for pair in pairs], english.pad).tokens
    targets = [french.encode(pair.target, bos=True, eos=True) for pair in pairs]
    target = pad_sequences(targets, french.pad).tokens

    def batch(step: int) -> Example:
        rows = torch.randint(len(pairs), (48,), generator=torch.Generator().manual_seed(step))
        return source[rows], target[rows]

    def loss(model: nn.Module, example: Example) -> Tensor:
        read, said = example
        log_probs = model(read, said[:, :-1])
        return F.nll_loss(log_probs.transpose(1, 2), said[:, 1:], ignore_index=french.pad)

    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Translator(
            TranslatorConfig(len(english), len(french), d_model=48, n_layers=1, d_ff=96, pad=english.pad)
        )
        train(model, batch, TrainingConfig(n_steps, learning_rate=6e-3), loss=loss, device="cpu")
    return model, english, french
