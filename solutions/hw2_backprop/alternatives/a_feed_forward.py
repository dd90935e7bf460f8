"""Right solutions of part A of homework 2 that look nothing like the reference."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative


@alternative(of="windows_and_targets")
def by_unfolding(documents, n_window):
    pieces = torch.cat([d.unfold(0, n_window + 1, 1) for d in documents if len(d) > n_window])
    return pieces[:, :n_window], pieces[:, n_window]


@alternative(of="batch_at")
def row_by_row(tokens, starts, n_window):
    rows = torch.tensor([tokens.tolist()[start : start + n_window + 1] for start in starts.tolist()])
    return rows[:, :-1], rows[:, -1]


@alternative(of="log_softmax")
def in_numpy(logits):
    values = logits.numpy()
    top = values.max(axis=-1, keepdims=True)
    return torch.from_numpy(values - (top + np.log(np.exp(values - top).sum(axis=-1, keepdims=True))))


@alternative(of="cross_entropy")
def by_logsumexp(logits, targets):
    return (logits.logsumexp(-1) - logits.gather(1, targets[:, None])[:, 0]).mean()


@alternative(of="draw_tokens")
def by_searching(logits, uniforms):
    drawn = []
    for row, u in zip(logits.tolist(), uniforms.tolist(), strict=True):
        top = max(row)
        pieces = [math.exp(z - top) for z in row]
        left, word = u * sum(pieces), 0
        while left > pieces[word]:
            left, word = left - pieces[word], word + 1
        drawn.append(word)
    return torch.tensor(drawn)


@alternative(of="FeedForwardLM")
class WithLayersOfTorch(nn.Module):
    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__()
        self.pad = pad
        self.E = nn.Parameter(torch.randn(d_embedding, vocab_size, dtype=torch.float64))
        self.W = nn.Parameter(torch.randn(d_hidden, n_window * d_embedding, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))
        self.U = nn.Parameter(torch.randn(vocab_size, d_hidden, dtype=torch.float64))
        self.c = nn.Parameter(torch.zeros(vocab_size, dtype=torch.float64))

    def forward(self, windows):
        table = torch.where(torch.arange(self.E.shape[1]) == self.pad, 0.0, self.E)
        e = torch.cat([functional.embedding(column, table.T) for column in windows.unbind(1)], dim=-1)
        return functional.linear(functional.linear(e, self.W, self.b).tanh(), self.U, self.c)


@alternative(of="first_loss_verdict")
def by_perplexity(first_loss, vocab_size):
    ratio = math.exp(first_loss) / vocab_size
    if ratio > math.exp(0.25):
        return "too sure"
    return "too good" if ratio < math.exp(-0.25) else "as expected"


@alternative(of="overfit_one_batch")
def with_a_gradient_of_ones_own(weight, features, targets, learning_rate, n_steps):
    kept = 2.0 * (torch.arange(features.shape[1]) % 2 == 0)
    losses = [functional.cross_entropy(features @ weight.T, targets).item()]
    for _ in range(n_steps):
        own = weight.clone().requires_grad_()
        [gradient] = torch.autograd.grad(functional.cross_entropy((features * kept) @ own.T, targets), own)
        weight = weight - learning_rate * gradient
        losses.append(functional.cross_entropy(features @ weight.T, targets).item())
    return torch.tensor(losses, dtype=torch.float64)
