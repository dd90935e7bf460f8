"""Norms that the checks once let pass."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import LayerNorm


@stranger(of="rms_norm")
def one_added_to_the_gain(x, gain, epsilon):
    return (1 + gain) * x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + epsilon)


@stranger(of="LayerNorm")
class DeviationOfAtLeastEpsilon(LayerNorm):
    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        deviation = centred.square().mean(-1, keepdim=True).sqrt().clamp(min=self.epsilon)
        return self.gain * centred / deviation + self.bias
