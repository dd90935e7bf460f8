"""What goes wrong in homework 6, exercise 23: a step of contrastive search."""

import math

import torch
from torch.nn.functional import cosine_similarity

from autograder.catalogue import misconception


def _cosines(states, past):
    return cosine_similarity(states[:, None], past[None], dim=-1)  # (V, T)


def _best(values, candidates):
    scores = torch.full_like(values, -math.inf)
    scores[candidates] = values[candidates]
    return int(scores.argmax()), scores


def _taken(probs, likeness, k, alpha):
    return _best((1 - alpha) * probs - alpha * likeness, probs.topk(k).indices)


@misconception(of="contrastive_step")
def log_probabilities_weighed(logits, states, past, k, alpha):
    """Log-probabilities are weighed against the cosines, not probabilities.

    A cosine is at most 1. How far can a log-probability be from 0, and what is then left of the likeness?
    """
    return _taken(logits.log_softmax(-1), _cosines(states, past).amax(-1), k, alpha)


@misconception(of="contrastive_step")
def dot_products_for_cosines(logits, states, past, k, alpha):
    """The likeness is a dot product, so long vectors count more.

    What is the cosine of (3, 0) and (1, 0), and what their dot product?
    """
    return _taken(logits.softmax(-1), (states @ past.T).amax(-1), k, alpha)


@misconception(of="contrastive_step")
def mean_likeness(logits, states, past, k, alpha):
    """The mean of the cosines is taken, so one repetition in a long text is hardly noticed.

    The token leads exactly where position 3 of a hundred was. Which cosine says so?
    """
    return _taken(logits.softmax(-1), _cosines(states, past).mean(-1), k, alpha)


@misconception(of="contrastive_step")
def likeness_to_the_last_alone(logits, states, past, k, alpha):
    """Each token is compared with the last position alone.

    Which positions does j run over? What would keep the text from saying again what it said two words ago?
    """
    return _taken(logits.softmax(-1), _cosines(states, past)[:, -1], k, alpha)


@misconception(of="contrastive_step")
def likeness_rewarded(logits, states, past, k, alpha):
    """The likeness is added, so the text is drawn to where it has been.

    Which sign does the formula have before alpha times the cosine?
    """
    return _taken(logits.softmax(-1), -_cosines(states, past).amax(-1), k, alpha)


@misconception(of="contrastive_step")
def alpha_exchanged(logits, states, past, k, alpha):
    """Alpha weighs the probability, and 1 - alpha the likeness.

    With alpha = 0 the most probable token should be taken. Which one do you take?
    """
    return _taken(logits.softmax(-1), _cosines(states, past).amax(-1), k, 1 - alpha)


@misconception(of="contrastive_step")
def all_tokens_are_candidates(logits, states, past, k, alpha):
    """All tokens are compared, not only the k most probable, so a nonsensical one can win by being unlike.

    What is the score of the fourth token of the example, and who chose it as a candidate?
    """
    return _taken(logits.softmax(-1), _cosines(states, past).amax(-1), len(logits), alpha)


@misconception(of="contrastive_step")
def candidates_by_score(logits, states, past, k, alpha):
    """The k tokens with the largest scores are kept, not the k most probable.

    By which number are the candidates chosen, and at which moment?
    """
    values = (1 - alpha) * logits.softmax(-1) - alpha * _cosines(states, past).amax(-1)
    return _best(values, values.topk(k).indices)


@misconception(of="contrastive_step")
def probabilities_among_candidates(logits, states, past, k, alpha):
    """The probabilities of the candidates are divided by their sum first.

    What is P(v) of the first token of the example, and what is it in your score?
    """
    probs = logits.softmax(-1)
    shared = probs / probs.topk(k).values.sum()
    return _best((1 - alpha) * shared - alpha * _cosines(states, past).amax(-1), probs.topk(k).indices)


@misconception(of="contrastive_step")
def opposite_counts_as_like(logits, states, past, k, alpha):
    """The size of the cosine is taken, so an opposite vector counts as a repetition.

    What is the cosine of (-1, -1) and (1, 0)? Is that a vector like the ones before?
    """
    return _taken(logits.softmax(-1), _cosines(states, past).abs().amax(-1), k, alpha)
