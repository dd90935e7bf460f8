"""Positions that the checks once took for known mistakes or let pass."""

import math

import torch
from torch import nn

from autograder.proving.strangers import stranger


@stranger(of="sinusoidal_positions", may_be=["exponent_counted_twice"])  # the same for every even width
def exponents_over_half_the_width(n_positions, d_model):
    columns = torch.arange(d_model)
    exponents = 2 * (columns // 2) / (d_model // 2)
    angles = torch.arange(n_positions, dtype=torch.float64)[:, None] / 10_000.0 ** exponents.double()
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


@stranger(of="TransformerInput", may_be=["EmbeddingNotScaled"])
class ScaledOnceAtTheStart(nn.Module):
    def __init__(self, vocab_size, table):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, table.shape[1])
        self.register_buffer("table", table)
        self.embedding.weight.data.mul_(math.sqrt(table.shape[1]))

    def forward(self, tokens):
        return self.embedding(tokens) + self.table[: tokens.shape[1]]


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


@stranger(of="rotate")
def positions_in_bfloat16(x, first, base=10_000.0):
    n_positions, d_head = x.shape[-2:]
    positions = torch.arange(first, first + n_positions, dtype=torch.bfloat16).double()
    angles = positions[:, None] * base ** (-torch.arange(0, d_head, 2).double() / d_head)
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous()) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(start_dim=-2)
