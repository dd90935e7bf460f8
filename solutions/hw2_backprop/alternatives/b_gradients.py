"""Right solutions of part B of homework 2 that look nothing like the reference."""

import math

import torch
from torch.nn import functional

from autograder.catalogue import alternative


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
