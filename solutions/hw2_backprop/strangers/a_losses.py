"""Shifts of the logits, bounds of the first loss and a width, and a loss through which no gradient flows."""

import math

import torch
from torch import nn

from autograder.proving.strangers import stranger

from ..notebook import FeedForwardLM, cross_entropy


def _shifted(logits, shift):
    return logits - shift - (logits - shift).exp().sum(-1, keepdim=True).log()


@stranger(of="log_softmax")
def mean_subtracted(logits):
    return _shifted(logits, logits.mean(-1, keepdim=True))


@stranger(of="log_softmax")
def first_logit_subtracted(logits):
    return _shifted(logits, logits[..., :1])


@stranger(of="cross_entropy")
def loss_cut_off(logits, targets):
    return cross_entropy(logits.detach(), targets)


@stranger(of="cross_entropy")
def targets_of_the_first_row(logits, targets):
    return cross_entropy(logits, targets[:1].expand_as(targets))


def _loss_with(logits, targets, shift):
    shifted = logits - shift
    at_targets = shifted[torch.arange(len(targets)), targets]
    return (shifted.exp().sum(-1).log() - at_targets).mean()


@stranger(of="cross_entropy")
def maximum_of_the_first_row_in_the_loss(logits, targets):
    return _loss_with(logits, targets, logits[0].max())


@stranger(of="cross_entropy")
def maximum_of_the_batch_in_the_loss(logits, targets):
    return _loss_with(logits, targets, logits.max())


@stranger(of="log_softmax")
def last_row_subtracted(logits):
    return _shifted(logits, (logits[-1] if logits.ndim > 1 else logits).max())


@stranger(of="first_loss_verdict")
def a_thousandth_more_above(first_loss, vocab_size):
    excess = first_loss - math.log(vocab_size)
    return "too sure" if excess > 0.251 else "too good" if excess < -0.25 else "as expected"


@stranger(of="first_loss_verdict")
def a_thousandth_less_below(first_loss, vocab_size):
    excess = first_loss - math.log(vocab_size)
    return "too sure" if excess > 0.25 else "too good" if excess < -0.249 else "as expected"


@stranger(of="first_loss_verdict")
def a_fifth_of_a_nat_allowed(first_loss, vocab_size):
    excess = first_loss - math.log(vocab_size)
    return "too sure" if excess > 0.2 else "too good" if excess < -0.2 else "as expected"


@stranger(of="first_loss_verdict")
def half_a_nat_allowed(first_loss, vocab_size):
    excess = first_loss - math.log(vocab_size)
    return "too sure" if excess > 0.5 else "too good" if excess < -0.5 else "as expected"


@stranger(of="first_loss_verdict")
def bound_on_the_loss_itself(first_loss, vocab_size):
    if first_loss <= 0.25:
        return "as expected"
    return "too sure" if first_loss > math.log(vocab_size) else "too good"


@stranger(of="first_loss_verdict")
def two_and_a_half_nats_allowed_below(first_loss, vocab_size):
    excess = first_loss - math.log(vocab_size)
    return "too sure" if excess > 0.25 else "as expected" if excess > -2.5 else "too good"


@stranger(of="FeedForwardLM", may_be=["EmbeddingsSummed"])
class OneEmbeddingWide(FeedForwardLM):
    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__(vocab_size, n_window, d_embedding, d_hidden, pad)
        self.W = nn.Parameter(self.W[:, :d_embedding].detach().clone())


@stranger(of="log_softmax")
def maximum_added(logits):
    shifted = logits + logits.max(dim=-1, keepdim=True).values
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
