"""Layers that the checks once took for known mistakes or let pass."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.proving.strangers import stranger

from ..notebook import LayerNorm


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


@stranger(of="sinusoidal_positions", may_be=["exponent_counted_twice"])  # the same for every even width
def exponents_over_half_the_width(n_positions, d_model):
    columns = torch.arange(d_model)
    exponents = 2 * (columns // 2) / (d_model // 2)
    angles = torch.arange(n_positions, dtype=torch.float64)[:, None] / 10_000.0 ** exponents.double()
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


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


@stranger(of="TiedModel", may_be=["WeightCopied"])
class Untied(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.hidden = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        return self.output(torch.tanh(self.hidden(self.embedding(tokens))))


@stranger(of="TransformerInput", may_be=["EmbeddingNotScaled"])
class ScaledOnceAtTheStart(nn.Module):
    def __init__(self, vocab_size, table):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, table.shape[1])
        self.register_buffer("table", table)
        self.embedding.weight.data.mul_(math.sqrt(table.shape[1]))

    def forward(self, tokens):
        return self.embedding(tokens) + self.table[: tokens.shape[1]]


@stranger(of="rms_norm")
def one_added_to_the_gain(x, gain, epsilon):
    return (1 + gain) * x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + epsilon)


@stranger(of="rotate", may_be=["halves_paired"])  # the same, but for the precision of what comes back
def halves_paired_in_the_precision_of_x(x, first, base=10_000.0):
    positions = torch.arange(first, first + x.shape[-2]).double()
    angles = positions[:, None] / base ** (torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)


@stranger(of="rotate")
def every_angle_doubled(x, first, base=10_000.0):
    positions = 2 * torch.arange(first, first + x.shape[-2]).double()
    angles = positions[:, None] / base ** (torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(pairs, dim=-1).flatten(-2)


@stranger(of="LayerNorm")
class DeviationOfAtLeastEpsilon(LayerNorm):
    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        deviation = centred.square().mean(-1, keepdim=True).sqrt().clamp(min=self.epsilon)
        return self.gain * centred / deviation + self.bias


@stranger(of="rotate")
def positions_in_bfloat16(x, first, base=10_000.0):
    n_positions, d_head = x.shape[-2:]
    positions = torch.arange(first, first + n_positions, dtype=torch.bfloat16).double()
    angles = positions[:, None] * base ** (-torch.arange(0, d_head, 2).double() / d_head)
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous()) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(start_dim=-2)
