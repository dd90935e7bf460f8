"""Attention that the checks once took for known mistakes or let pass."""

import math

import torch
from torch.nn import functional

from autograder.proving.strangers import stranger


@stranger(of="dropped_attention")
def rest_normalised_again(scores, value, kept, rate):
    weights = scores.softmax(-1) * kept
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-12) @ value


@stranger(of="dropped_attention", may_be=["dropped_like_masked"])  # the same, masked before or after
def rest_divided_by_its_sum(scores, value, kept, rate):
    weights = scores.softmax(-1) * kept / (1 - rate)
    return weights / weights.sum(-1, keepdim=True) @ value


@stranger(of="dropped_attention")
def dropped_at_random(scores, value, kept, rate):
    return functional.dropout(scores.softmax(-1), rate) @ value


@stranger(of="dropped_attention")
def divided_by_the_share_that_was_kept(scores, value, kept, rate):
    return scores.softmax(-1) * kept / kept.double().mean() @ value


@stranger(of="effective_keys")
def exponentials_of_large_scores(scores):
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return torch.exp(-torch.xlogy(weights, weights).sum(-1))


@stranger(of="masked_weights")
def exponentials_without_a_maximum(scores, mask):
    masked = scores.exp() * mask
    return masked / masked.sum(-1, keepdim=True)


@stranger(of="masked_weights")
def forbidden_scores_plus_infinity(scores, mask):
    return scores.masked_fill(~mask, math.inf).softmax(-1)


@stranger(of="attention")
def keys_and_values_summed_apart(query, key, value):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(-1)
    return weights.sum(-1, keepdim=True) * value.sum(-2, keepdim=True), weights


@stranger(of="attention")
def causal_unasked(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -math.inf).softmax(-1)
    return weights @ value, weights


@stranger(of="attention")
def not_normalised(query, key, value):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).exp()
    return weights @ value, weights


@stranger(of="attention")
def values_before_weights(query, key, value):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(-1)
    return value @ weights, weights


@stranger(of="masked_weights", may_be=["a_billion_subtracted"])
def a_million_subtracted(scores, mask):
    return (scores - 1e6 * ~mask).softmax(-1)


@stranger(of="masked_weights", may_be=["filled_with_minus_ten_thousand"])
def filled_with_minus_a_thousand(scores, mask):
    return scores.masked_fill(~mask, -1000.0).softmax(-1)


@stranger(of="masked_weights", may_be=["filled_with_minus_a_billion"])
def filled_with_minus_a_hundred_thousand(scores, mask):
    return scores.masked_fill(~mask, -1e5).softmax(-1)
