"""Steps that the checks once took for known mistakes."""

import torch

from autograder.proving.strangers import stranger


@stranger(of="rnn_step")
def state_transposed(x, h, W, U, b):
    return torch.tanh(x @ W.T + h.mT @ U.T + b)


@stranger(of="clipped", may_be=["multiplied_in_place"])
def written_into_the_dict(gradients, threshold):
    length = torch.stack([gradient.square().sum() for gradient in gradients.values()]).sum().sqrt()
    factor = threshold / length if length > threshold else 1.0
    for name in gradients:
        gradients[name] = gradients[name] * factor
    return gradients
