"""A norm that the checks once let pass."""

import torch

from autograder.proving.strangers import stranger


@stranger(of="rms_norm")
def one_added_to_the_gain(x, gain, epsilon):
    return (1 + gain) * x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + epsilon)
