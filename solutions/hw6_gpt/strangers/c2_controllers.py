"""Controllers of the surprise that the checks once let pass or took for known mistakes."""

import math
import operator

import torch

from autograder.proving.strangers import stranger

from ..notebook import mirostat


def _controlled(logits, target, learning_rate, generator, *, is_kept=operator.le, is_carried=True):
    tokens, mus = [], [2.0 * target]
    for row in logits.double():
        surprises = -row.log_softmax(dim=-1) / math.log(2)
        kept = is_kept(surprises, mus[-1 if is_carried else 0])
        kept[row.argmax()] = True
        probs = row.masked_fill(~kept, -torch.inf).softmax(dim=-1)
        token = torch.multinomial(probs, num_samples=1, generator=generator)
        mus.append(mus[-1] - learning_rate * (float(surprises[token]) - target))
        tokens.append(int(token))
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)


@stranger(of="mirostat", may_be=["a_surprise_of_mu_forbidden"])
def less_surprise_than_mu(logits, target, learning_rate, generator):
    return _controlled(logits, target, learning_rate, generator, is_kept=operator.lt)


@stranger(of="mirostat")
def more_surprising_kept(logits, target, learning_rate, generator):
    return _controlled(logits, target, learning_rate, generator, is_kept=operator.ge)


@stranger(of="mirostat")
def mu_not_carried(logits, target, learning_rate, generator):
    return _controlled(logits, target, learning_rate, generator, is_carried=False)


@stranger(of="mirostat")
def drawn_without_the_generator(logits, target, learning_rate, generator):
    return mirostat(logits, target, learning_rate, None)
