"""Autograd across the border: backward() in the grader asks the student's process for its part."""

from collections.abc import Iterator
from typing import Any, Protocol

import torch

from autograder.isolation.objects import tensors_in


class Backward(Protocol):
    """Something that can continue a backward pass on the other side."""

    def backward(self, graph: int, cotangents: list) -> list: ...


def attach(student: Backward, graph: int, arguments: Any, value: Any) -> Any:
    """The same value, its tensors being results of the arguments' tensors as far as autograd can tell."""
    inputs, outputs = list(tensors_in(arguments)), list(tensors_in(value))
    anchor = torch.zeros((), requires_grad=True)  # for calls of which only parameters need gradients
    attached = Crossing.apply(student, graph, len(inputs), *inputs, anchor, *outputs)
    return replace_tensors(value, iter(attached))


class Crossing(torch.autograd.Function):
    """A call made on the other side, as one node of the graph on this side."""

    @staticmethod
    def forward(ctx, student, graph, n_inputs, *tensors):
        ctx.student, ctx.graph = student, graph
        ctx.inputs = [(tensor.shape, tensor.dtype) for tensor in tensors[:n_inputs]]
        outputs = [tensor.detach().clone() for tensor in tensors[n_inputs + 1 :]]
        fixed = zip(outputs, tensors[n_inputs + 1 :], strict=True)
        ctx.mark_non_differentiable(*(output for output, received in fixed if not received.requires_grad))
        ctx.set_materialize_grads(False)
        return tuple(outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *cotangents):
        gradients = ctx.student.backward(ctx.graph, list(cotangents))
        if [described(gradient) for gradient in gradients if gradient is not None] != [
            expected
            for expected, gradient in zip(ctx.inputs, gradients, strict=False)
            if gradient is not None
        ] or len(gradients) != len(ctx.inputs):
            raise RuntimeError("the student's process returned gradients of other shapes than the arguments")
        return None, None, None, *gradients, None, *(None for _ in cotangents)


def described(gradient: Any) -> Any:
    """A tensor's shape and dtype; None for what is no tensor."""
    return (gradient.shape, gradient.dtype) if isinstance(gradient, torch.Tensor) else None


def replace_tensors(value: Any, tensors: Iterator[torch.Tensor]) -> Any:
    """The same nested value with its tensors replaced, in order."""
    if isinstance(value, torch.Tensor):
        return next(tensors)
    if isinstance(value, list | tuple):
        return type(value)(replace_tensors(item, tensors) for item in value)
    if isinstance(value, dict):
        return {key: replace_tensors(item, tensors) for key, item in value.items()}
    return value
