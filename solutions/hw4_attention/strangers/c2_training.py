"""A training that the checks once let pass."""

import torch
from torch import nn

from autograder.proving.strangers import stranger

from ..notebook import small_translator


@stranger(of="weights_after", may_be={"steep_steps_not_shortened"})
def each_number_of_the_gradient_clipped(weights, batches, learning_rate):
    model = small_translator(weights)
    for source, target in batches:
        log_probs = model(source, target[:, :-1]).gather(-1, target[:, 1:, None])[..., 0]
        model.zero_grad()
        (-log_probs[target[:, 1:] != 0].mean()).backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        torch.optim.SGD(model.parameters(), lr=learning_rate).step()
    return model.state_dict()
