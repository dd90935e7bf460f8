"""Shifts of the logits that the checks once let pass, and losses through which no gradient flows."""

import math

from autograder.proving.strangers import stranger

from ..notebook import cross_entropy


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


@stranger(of="first_loss_verdict")
def a_fifth_of_a_nat_allowed(first_loss, vocab_size):
    excess = first_loss - math.log(vocab_size)
    return "too sure" if excess > 0.2 else "too good" if excess < -0.2 else "as expected"


@stranger(of="first_loss_verdict")
def half_a_nat_allowed(first_loss, vocab_size):
    excess = first_loss - math.log(vocab_size)
    return "too sure" if excess > 0.5 else "too good" if excess < -0.5 else "as expected"


@stranger(of="log_softmax")
def maximum_added(logits):
    shifted = logits + logits.max(dim=-1, keepdim=True).values
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
