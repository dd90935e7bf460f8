"""Right steps and right networks that look nothing like the reference."""

import torch
from torch import nn

from autograder.catalogue import alternative


@alternative(of="rnn_step")
def side_by_side(x, h, W, U, b):
    joined = torch.cat([x, h, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    return 2 * torch.sigmoid(2 * (joined @ torch.cat([W, U, b[:, None]], dim=1).T)) - 1


@alternative(of="rnn_step")
def column_by_column(x, h, W, U, b):
    return torch.stack([torch.tanh(W @ word + U @ state + b) for word, state in zip(x, h, strict=True)])


@alternative(of="RNN")
class WrittenIntoATable(nn.Module):
    def __init__(self, d_input, d_hidden):
        super().__init__()
        self.b = nn.Parameter(torch.ones(d_hidden, dtype=torch.float64))
        self.U = nn.Parameter(torch.eye(d_hidden, dtype=torch.float64))
        self.W = nn.Parameter(torch.ones(d_hidden, d_input, dtype=torch.float64))

    def forward(self, x, h_0=None):
        projected = torch.einsum("bti,di->tbd", x, self.W) + self.b
        h = torch.zeros_like(projected[0]) if h_0 is None else h_0
        table = []
        for row in projected:
            h = torch.addmm(row, h, self.U.t()).tanh()
            table.append(h)
        return torch.stack(table).transpose(0, 1), table[-1].clone()
