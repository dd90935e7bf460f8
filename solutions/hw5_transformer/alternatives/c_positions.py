"""Right solutions about positions that look nothing like the reference."""

import math

import torch
from torch import nn

from autograder.catalogue import alternative


@alternative(of="sinusoidal_positions")
def number_by_number(n_positions, d_model):
    rows = []
    for p in range(n_positions):
        row = []
        for i in range((d_model + 1) // 2):
            angle = p * math.exp(-2 * i / d_model * math.log(10_000))
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row[:d_model])
    return torch.tensor(rows, dtype=torch.float64)


@alternative(of="LearnedPositions")
class ByLookingUp(nn.Module):
    def __init__(self, context_length, d_model):
        super().__init__()
        self.register_parameter("table", nn.Parameter(torch.empty(context_length, d_model).normal_()))

    def forward(self, x):
        positions = torch.arange(x.size(1)).expand(x.size(0), -1)
        return nn.functional.embedding(positions, self.table).add(x)


@alternative(of="TransformerInput")
class WithABufferThatIsNotSaved(nn.Module):
    def __init__(self, vocab_size, table):
        super().__init__()
        self.d_model = table.size(1)
        self.register_buffer("table", table.clone(), persistent=False)
        self.embedding = nn.Embedding(vocab_size, self.d_model)

    def forward(self, tokens):
        positions = torch.arange(tokens.size(1)).expand_as(tokens)
        return torch.add(self.table[positions], self.embedding.weight[tokens], alpha=self.d_model**0.5)


@alternative(of="relative_bias")
def diagonal_by_diagonal(bias, n_queries, n_keys):
    radius, last = bias.shape[1] // 2, bias.shape[1] - 1
    result = torch.empty(len(bias), n_queries, n_keys, dtype=bias.dtype)
    for distance in range(1 - n_keys, n_keys):
        entry = bias[:, min(max(distance + radius, 0), last)]
        for i in range(n_queries):
            j = i + n_keys - n_queries + distance
            if 0 <= j < n_keys:
                result[:, i, j] = entry
    return result


@alternative(of="rotate")
def rotate_by_angles_in_float32(x, first, base=10_000.0):
    speeds = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = torch.outer(torch.arange(first, first + x.shape[-2]), speeds)
    even, odd = x[..., ::2], x[..., 1::2]
    turned = even * angles.cos() - odd * angles.sin(), odd * angles.cos() + even * angles.sin()
    return torch.stack(turned, -1).flatten(-2)


@alternative(of="rotate")
def with_complex_numbers(x, first, base=10_000.0):
    points = torch.view_as_complex(x.contiguous().unflatten(-1, (-1, 2)))
    speeds = torch.tensor([base ** (-2 * i / x.shape[-1]) for i in range(x.shape[-1] // 2)]).double()
    angles = torch.outer(torch.arange(x.shape[-2]).double() + first, speeds)
    return torch.view_as_real(points * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


@alternative(of="rotary_attention")
def with_distances(query, key, value, first):
    """The keys are turned relative to each query, which stays where it is."""
    outputs = []
    for t in range(query.shape[-2]):
        distances = torch.arange(key.shape[-2]) - (key.shape[-2] - query.shape[-2] + t)
        turned = with_complex_numbers_at(key, distances)
        scores = (turned * query[..., t : t + 1, :]).sum(-1) / query.shape[-1] ** 0.5
        outputs.append((scores.softmax(-1)[..., None] * value).sum(-2))
    return torch.stack(outputs, dim=-2)


def with_complex_numbers_at(x, positions):
    points = torch.view_as_complex(x.contiguous().unflatten(-1, (-1, 2)))
    speeds = 10_000 ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angles = positions.double()[:, None] * speeds
    return torch.view_as_real(points * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
