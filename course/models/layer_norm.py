"""Layer normalisation: each position's vector gets mean 0 and variance 1, independently of all others.

Ba, Kiros and Hinton 2016; RMSNorm (Zhang and Sennrich 2019) leaves out the mean.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.shapes import Float, Tensor


def layer_norm(
    x: Float[Tensor, "*positions d_model"],
    gain: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    epsilon: float = 1e-5,
) -> Float[Tensor, "*positions d_model"]:
    """gain ⊙ (x − mean) / √(variance + ε) + bias over the last axis; the variance divides by D, not D − 1."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return gain * centred * torch.rsqrt(variance + epsilon) + bias


def rms_norm(
    x: Float[Tensor, "*positions d_model"], gain: Float[Tensor, " d_model"], epsilon: float = 1e-5
) -> Float[Tensor, "*positions d_model"]:
    """gain ⊙ x / √(mean of x² + ε): the norm is normalised, the mean is unchanged."""
    return gain * x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + epsilon)


class LayerNorm(nn.Module):
    """Layer normalisation with trained gain and bias; `is_fused` computes the same by PyTorch's kernel."""

    def __init__(self, d_model: int, epsilon: float = 1e-5, is_fused: bool = True) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon
        self.is_fused = is_fused

    def forward(self, x: Float[Tensor, "*positions d_model"]) -> Float[Tensor, "*positions d_model"]:
        if self.is_fused:
            return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.epsilon)
        return layer_norm(x, self.gain, self.bias, self.epsilon)


class RMSNorm(nn.Module):
    """Root-mean-square normalisation with trained gain."""

    def __init__(self, d_model: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*positions d_model"]) -> Float[Tensor, "*positions d_model"]:
        return rms_norm(x, self.gain, self.epsilon)
