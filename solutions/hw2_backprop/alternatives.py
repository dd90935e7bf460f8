"""Right solutions of homework 2 that look nothing like the reference: no check may take a point from them."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative

from .notebook import with_dropout


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


@alternative(of="Value")
class WithClosures:
    def __init__(self, data):
        self.data, self.grad, self.users, self.behind = data, 0.0, 0, []

    def _new(self, data, behind):
        new = WithClosures(data)
        new.behind = behind
        return new

    def add(self, other):
        return self._new(self.data + other.data, [(self, lambda g: g), (other, lambda g: g)])

    def mul(self, other):
        a, b = self.data, other.data
        return self._new(a * b, [(self, lambda g: g * b), (other, lambda g: g * a)])

    def power(self, n):
        return self._new(math.pow(self.data, n), [(self, lambda g: g * n * math.pow(self.data, n - 1))])

    def relu(self):
        return self._new(self.data if self.data > 0 else 0.0, [(self, lambda g: g if self.data > 0 else 0.0)])

    def tanh(self):
        return self._new(math.tanh(self.data), [(self, lambda g: g / math.cosh(self.data) ** 2)])

    def backward(self):
        """Kahn's order: a number passes its gradient on when the last of its users has passed on theirs."""
        everything, waiting = {id(self): self}, [self]
        while waiting:
            for parent, _ in waiting.pop().behind:
                if id(parent) not in everything:
                    everything[id(parent)] = parent
                    waiting.append(parent)
        for value in everything.values():
            value.grad, value.users = 0.0, 0
        for value in everything.values():
            for parent, _ in value.behind:
                parent.users += 1
        self.grad, ready = 1.0, [self]
        while ready:
            value = ready.pop()
            for parent, pull in value.behind:
                parent.grad += pull(value.grad)
                parent.users -= 1
                ready += [parent] if parent.users == 0 else []


@alternative(of="softmax_vjp")
def row_times_row(probs, upstream):
    weighted = probs * upstream
    return torch.stack([w - p * w.sum() for p, w in zip(probs, weighted, strict=True)])


@alternative(of="cross_entropy_grad")
def row_after_row(logits, targets, pad):
    gradient = torch.zeros_like(logits)
    for row, target in enumerate(targets.tolist()):
        if target != pad:
            gradient[row] = logits[row].exp() / logits[row].exp().sum()
            gradient[row, target] -= 1
    return gradient / sum(target != pad for target in targets.tolist())


@alternative(of="linear_backward")
def linear_backward_in_float32(x, W, upstream):
    x, W, upstream = x.float(), W.float(), upstream.float()
    return (upstream @ W).double(), (upstream.mT @ x).double(), upstream.sum(0).double()


@alternative(of="linear_backward")
def by_einsum(x, W, upstream):
    dx = torch.einsum("bm,mk->bk", upstream, W)
    return dx, torch.einsum("bm,bk->mk", upstream, x), torch.einsum("bm->m", upstream)


@alternative(of="tanh_backward")
def by_cosh(h, upstream):
    return (1 - h) * (1 + h) * upstream


@alternative(of="embedding_backward")
def by_one_hot(windows, upstream, vocab_size):
    return torch.einsum("bnd,bnv->dv", upstream, functional.one_hot(windows, vocab_size).to(upstream.dtype))


@alternative(of="unbroadcast")
def in_one_sum(gradient, shape):
    padded = [1] * (gradient.ndim - len(shape)) + list(shape)
    axes = [
        axis for axis, (size, wide) in enumerate(zip(padded, gradient.shape, strict=True)) if size != wide
    ]
    return (gradient.sum(axes) if axes else gradient).reshape(list(shape))


@alternative(of="layer_norm_backward")
def by_the_jacobian(x, gain, upstream, eps):
    n = x.shape[1]
    centring = torch.eye(n, dtype=x.dtype) - 1 / n
    rows = []
    for row, g in zip(x @ centring, upstream * gain, strict=True):
        s = (row @ row / n + eps).sqrt()
        rows.append(centring @ (g / s - row * (row @ g) / (n * s**3)))
    s = ((x @ centring).square().mean(1, keepdim=True) + eps).sqrt()
    return torch.stack(rows), (upstream * (x @ centring) / s).sum(0), upstream.sum(0)


@alternative(of="layer_norm_backward")
def layer_norm_backward_in_float32(x, gain, upstream, eps):
    x, gain, upstream = x.float(), gain.float(), upstream.float()
    s = (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    normed, g = (x - x.mean(-1, keepdim=True)) / s, gain * upstream
    dx = (g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)) / s
    return dx, (upstream * normed).sum(0), upstream.sum(0)


@alternative(of="numerical_gradient")
def along_unit_vectors(loss_name, x, seed):
    losses = {
        "cubic": lambda v, generator: v.pow(3).sum(),
        "with_dropout": with_dropout,
        "neighbours": lambda v, generator: (v.flatten()[1:] * v.flatten()[:-1]).sum(),
    }
    gradient = torch.zeros(x.shape, dtype=torch.float64)
    for index in np.ndindex(*x.shape):
        direction = torch.zeros_like(gradient)
        direction[index] = 1e-5
        ends = [
            losses[loss_name](x.double() + sign * direction, torch.Generator().manual_seed(seed))
            for sign in (1, -1)
        ]
        gradient[index] = (ends[0] - ends[1]) / 2e-5
    return gradient


@alternative(of="wrong_entries")
def entry_by_entry(right, left, claimed):
    verdicts = []
    for r, m, c in zip(
        right.flatten().tolist(), left.flatten().tolist(), claimed.flatten().tolist(), strict=True
    ):
        is_smooth = abs(r - m) <= 0.01 * max(abs(r), abs(m))
        verdicts.append(is_smooth and not math.isclose((r + m) / 2, c, rel_tol=1e-4))
    return torch.tensor(verdicts).reshape(right.shape)


@alternative(of="forward_and_backward")
def with_one_hot_rows(E, W, b, U, c, windows, targets):
    x = functional.one_hot(windows, E.shape[1]).to(E.dtype)  # (B, N, V)
    e = torch.einsum("dv,bnv->bnd", E, x).flatten(1)
    a = torch.addmm(b, e, W.T)
    h = 1 - 2 / (torch.exp(2 * a) + 1)
    z = torch.addmm(c, h, U.T)
    y_hat = torch.exp(z) / torch.exp(z).sum(1, keepdim=True)
    L = -y_hat.gather(1, targets[:, None]).log().sum() / len(targets)
    dz = (y_hat - functional.one_hot(targets, len(U))) / len(targets)
    dh = torch.einsum("bv,vk->bk", dz, U)
    da = dh * (1 - h) * (1 + h)
    de = torch.einsum("bk,km->bm", da, W)
    dE = torch.einsum("bnd,bnv->dv", de.unflatten(1, windows.shape[1:] + E.shape[:1]), x)
    forwards = {"e": e, "a": a, "h": h, "z": z, "y_hat": y_hat, "L": L.item()}
    return forwards | {
        "dE": dE, "de": de, "da": da, "dh": dh, "dz": dz, "db": da.sum(0), "dc": dz.sum(0),
        "dW": torch.einsum("bk,bm->km", da, e), "dU": torch.einsum("bv,bk->vk", dz, h),
    }  # fmt: skip


@alternative(of="name_the_broken_line")
def put_together():
    return "_".join(["repeated", "word", "overwritten"])
