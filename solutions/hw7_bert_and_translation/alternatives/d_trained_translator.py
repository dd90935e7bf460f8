"""Another trained translator for the last exercise of homework 7: the course's own, with its own training."""

import zlib
from functools import cache
from random import Random

import torch
from torch.nn import functional

from autograder.catalogue import alternative
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import pad_sequences
from course.models.translator import Translator, TranslatorConfig

SENTENCES = TranslationConfig(min_length=4, max_length=7)
WORDS = translation_vocabularies(SENTENCES.lexicon)


def _batches(n_batches, batch_size, rng):
    drawn = translation_pairs(SENTENCES, 3000, rng)
    pairs = [pair for pair in drawn if zlib.crc32(" ".join(pair.source).encode()) % 4]
    for _ in range(n_batches):
        chosen = rng.sample(pairs, batch_size)
        sources = [WORDS[0].encode(pair.source) for pair in chosen]
        targets = [WORDS[1].encode(pair.target, bos=True, eos=True) for pair in chosen]
        yield pad_sequences(sources, 0).tokens, pad_sequences(targets, 0).tokens


def _train():
    torch.manual_seed(1)
    model = Translator(TranslatorConfig(*map(len, WORDS), d_model=48, n_heads=4, n_layers=1, d_ff=96))
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step / 30) * (1 - step / 330))
    for source, target in _batches(320, 48, Random(5)):
        log_probs = model(source, target[:, :-1])
        optimizer.zero_grad()
        functional.nll_loss(log_probs.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0).backward()
        optimizer.step()
        schedule.step()
    return model.eval()


_trained = cache(_train)


@alternative(of="translate")
def by_the_translator_of_the_course(sentences):
    source = pad_sequences([WORDS[0].encode(words) for words in sentences], 0).tokens
    tokens = _trained().translate(source, WORDS[1].bos, WORDS[1].eos, 40)
    return [tuple(WORDS[1].decode(row)) for row in tokens.tolist()]
