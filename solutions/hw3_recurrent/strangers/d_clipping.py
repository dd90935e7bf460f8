"""Norms and clipped steps that the checks once took for known mistakes or let pass."""

import torch

from autograder.proving.strangers import stranger


@stranger(of="clipped", may_be=["multiplied_in_place"])
def written_into_the_dict(gradients, threshold):
    length = torch.stack([gradient.square().sum() for gradient in gradients.values()]).sum().sqrt()
    factor = threshold / length if length > threshold else 1.0
    for name in gradients:
        gradients[name] = gradients[name] * factor
    return gradients


def _step(parameters, gradients, size):
    return {name: parameter - size * gradients[name] for name, parameter in parameters.items()}


def _length(gradients):
    return torch.cat([gradient.flatten() for gradient in gradients.values()]).norm()


@stranger(of="clipped_step")
def stretched_at_most_twice(parameters, gradients, learning_rate, threshold):
    factor = torch.clamp(threshold / _length(gradients), max=2.0)
    return _step(parameters, gradients, learning_rate * factor)


@stranger(of="clipped_step")
def shortened_below_one(parameters, gradients, learning_rate, threshold):
    return _step(parameters, gradients, learning_rate * torch.clamp(_length(gradients), max=1.0))


@stranger(of="clipped_step")
def shortened_below_one_over_the_threshold(parameters, gradients, learning_rate, threshold):
    return _step(parameters, gradients, learning_rate * torch.clamp(threshold * _length(gradients), max=1.0))


@stranger(of="clipped_step")
def multiplied_by_the_threshold(parameters, gradients, learning_rate, threshold):
    size = learning_rate * min(1.0, threshold)
    return {name: parameter - size * gradients[name] for name, parameter in parameters.items()}


@stranger(of="gradient_norms")
def constant_left_out(x, W, U, b, v):
    h, states = torch.zeros_like(b).requires_grad_(), []
    for x_t in x:
        h = torch.tanh(W @ x_t + U @ h)
        states.append(h)
    return torch.stack([gradient.norm() for gradient in torch.autograd.grad(v @ h, states)])


@stranger(of="clipped")
def clipped_beyond_one(gradients, threshold):
    length = torch.cat([gradient.flatten() for gradient in gradients.values()]).norm()
    return {
        name: gradient * (threshold / length if length > 1 else 1.0) for name, gradient in gradients.items()
    }
