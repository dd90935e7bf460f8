"""Steps and networks that the checks once took for known mistakes or let pass."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import RNN


@stranger(of="rnn_step")
def state_transposed(x, h, W, U, b):
    return torch.tanh(x @ W.T + h.mT @ U.T + b)


@stranger(of="RNN")
class StateNotTransposed(RNN):
    def forward(self, x, h_0=None):
        h, states = x.new_zeros(len(x), len(self.b)) if h_0 is None else h_0, []
        for x_t in x.unbind(dim=1):
            h = torch.tanh(x_t @ self.W.T + h @ self.U + self.b)
            states.append(h)
        return torch.stack(states, dim=1), h
