"""Batches of pairs: every pair once an epoch, the same batch whenever asked; padding changes no loss."""

import pytest
import torch
from torch.nn import functional as F

from course.data.vocabulary import Vocabulary
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.translation_experiment.parallel_text import ShuffledPairs, parallel_text, teacher_forcing_loss

SOURCE = [["a", "cat"], ["a", "small", "cat", "sleeps"], ["cat"], ["small", "cat", "a"], ["sleeps", "a"]]
TARGET = [["un", "chat"], ["un", "petit", "chat", "dort"], ["chat"], ["un", "petit", "chat"], ["dort", "un"]]


@pytest.fixture
def text():
    vocabularies = [Vocabulary.from_sentences(side) for side in (SOURCE, TARGET)]
    return parallel_text(list(zip(SOURCE, TARGET, strict=True)), *vocabularies)


@pytest.fixture
def model(text):
    torch.manual_seed(0)
    return Seq2Seq(Seq2SeqConfig(8, 8, d_embedding=3, d_hidden=5)).double()


def rows(tokens):
    return {tuple(row[row != 0].tolist()) for row in tokens}


def test_every_pair_is_seen_exactly_once_in_an_epoch(text):
    batches = ShuffledPairs(text, batch_size=1, seed=3)
    seen = [tuple(batches(step)[0][0].tolist()) for step in range(len(SOURCE))]
    assert sorted(seen) == sorted(rows(text.source.tokens))


def test_a_batch_is_the_same_whenever_it_is_asked_for(text):
    batches = ShuffledPairs(text, batch_size=2, seed=3)
    first, *_ = [batches(step) for step in (1, 4, 0, 7)]
    assert all(torch.equal(a, b) for a, b in zip(first, batches(1), strict=True))


def test_source_and_translation_stay_together(text):
    french = {tuple(row[row != 0].tolist()): i for i, row in enumerate(text.source.tokens)}
    source, inputs, targets, mask = ShuffledPairs(text, batch_size=4, seed=1)(2)
    for one, given, wanted, real in zip(source, inputs, targets, mask, strict=True):
        i = french[tuple(one[one != 0].tolist())]
        whole = text.target.tokens[i][text.target.mask[i]]
        assert given[real].tolist() == whole[:-1].tolist()
        assert wanted[real].tolist() == whole[1:].tolist()


def test_a_batch_is_as_narrow_as_its_longest_pair_allows(text):
    source, inputs, _, _ = text.example(torch.tensor([0, 2]))
    assert (source.shape[1], inputs.shape[1]) == (2, 3)  # "a cat", "<s> un chat"


def test_the_loss_is_the_cross_entropy_of_the_real_words(text, model):
    source, inputs, targets, mask = text.example(torch.arange(5))
    log_probs = model(source, inputs)
    expected = F.cross_entropy(log_probs.flatten(0, 1), targets.masked_fill(~mask, -100).flatten())
    assert torch.isclose(teacher_forcing_loss(model, (source, inputs, targets, mask)), expected)


def test_the_loss_of_a_batch_is_the_mean_over_the_words_of_its_pairs(text, model):
    alone = [text.example(torch.tensor([i])) for i in range(5)]
    nll = sum(teacher_forcing_loss(model, one) * one[3].sum() for one in alone)
    together = teacher_forcing_loss(model, text.example(torch.arange(5)))
    assert torch.isclose(together, nll / sum(one[3].sum() for one in alone))
