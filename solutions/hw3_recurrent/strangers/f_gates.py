"""A cell that the checks once let pass."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import LSTMCell


@stranger(of="LSTMCell")
class StateBeforeNotHeard(LSTMCell):
    def forward(self, x, state):
        return super().forward(x, (torch.zeros_like(state[0]), state[1]))
