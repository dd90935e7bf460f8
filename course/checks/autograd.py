"""Gradients across the border: a backward pass through a student's answer becomes an event of the trace.

A call is one node of the check's graph, whose backward asks the student's side for its part and takes note;
replaying the event sends the same gradients into the answer of another object.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.plain import copied, mapped, snapshot, tensors_in
from course.checks.trace import Answer, Event, Outcome, Trace

# From the gradients of an answer's differentiable tensors to those of the arguments', in order.
Backward = Callable[[Sequence[Tensor]], Sequence[Tensor | None]]


class Crossing(torch.autograd.Function):
    """A call made on the other side, as one node of the graph on this side."""

    @staticmethod
    def forward(
        ctx, trace: Trace, index: int, backward: Backward, outputs: list[Tensor], _: Tensor, *inputs: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.trace, ctx.index, ctx.ask = trace, index, backward
        ctx.inputs = [(tensor.shape, tensor.dtype) for tensor in inputs]
        return tuple(output.detach().clone() for output in outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *gradients: Tensor) -> tuple:
        answer, sent = Answer(ctx.index), snapshot(gradients)
        try:
            found = _checked(ctx.ask(gradients), ctx.inputs)
        except (StudentError, NotWritten, Unreachable) as problem:
            ctx.trace.events.append(Event(answer, "backward", sent, {}, failure(problem)))
            raise
        ctx.trace.events.append(Event(answer, "backward", sent, {}, Outcome("value", snapshot(found))))
        return (None,) * 5 + (found or (None,) * len(ctx.inputs))


class Seeds(torch.autograd.Function):
    """A number whose backward pass begins with the gradients given here, one for each tensor."""

    @staticmethod
    def forward(ctx, gradients: Sequence[Tensor], *tensors: Tensor) -> Tensor:
        ctx.gradients = gradients
        return torch.zeros(())

    @staticmethod
    def backward(ctx, _: Tensor) -> tuple:
        return (None, *ctx.gradients)


def differentiable(value: object) -> list[Tensor]:
    """The tensors inside a value that need gradients, in order."""
    return [tensor for tensor in tensors_in(value) if tensor.requires_grad]


def returned(trace: Trace, index: int, given: object, value: object, backward: Backward | None) -> object:
    """A copy of the answer to event `index`, tied to what was given to it by its gradients."""
    outputs = differentiable(value)
    if not outputs or backward is None or not torch.is_grad_enabled():
        return mapped(value, copied)
    anchor = torch.zeros((), requires_grad=True)  # for calls of which only parameters need gradients
    tied = iter(Crossing.apply(trace, index, backward, outputs, anchor, *differentiable(given)))
    return mapped(value, lambda entry: next(tied) if _needs_gradient(entry) else copied(entry))


def pull(inputs: list[Tensor], outputs: list[Tensor], gradients: Sequence[Tensor]) -> list[Tensor | None]:
    """The student's side of a backward pass: the inputs' gradients; parameters collect theirs."""
    for tensor in inputs:
        tensor.grad = None
    send_back(outputs, gradients)
    return [tensor.grad for tensor in inputs]


def send_back(answer: object, gradients: Sequence[Tensor]) -> None:
    """Send one gradient into each differentiable tensor of an answer; raises RuntimeError where none fits.

    Through a number, because `torch.autograd.backward` imports sympy, for a second or more, to compare the
    shapes of gradients that it is given.
    """
    tensors = differentiable(answer)
    if [tensor.shape for tensor in tensors] != [gradient.shape for gradient in gradients]:
        raise RuntimeError("the answer has no tensors of the shapes of these gradients")
    with torch.enable_grad():
        Seeds.apply(gradients, *tensors).backward(retain_graph=True)


def failure(problem: Exception) -> Outcome:
    """The outcome of a call that gave no value."""
    if isinstance(problem, StudentError):
        return Outcome("error", error=problem.error, message=problem.message)
    return Outcome("not_written" if isinstance(problem, NotWritten) else "unreachable", message=str(problem))


def _checked(gradients: Sequence[Tensor | None], inputs: list[tuple]) -> tuple[Tensor, ...] | None:
    """The gradients of these inputs, zeros for those that none reaches; None where none reaches any."""
    forms = [
        form if gradient is None else _form(gradient)
        for gradient, form in zip(gradients, inputs, strict=False)
    ]
    if len(gradients) != len(inputs) or forms != inputs:
        raise StudentError("RuntimeError", "the gradients have other shapes than the arguments")
    if all(gradient is None for gradient in gradients):
        return None
    return tuple(
        torch.zeros(shape, dtype=dtype) if gradient is None else gradient
        for gradient, (shape, dtype) in zip(gradients, inputs, strict=True)
    )


def _form(gradient: object) -> tuple | None:
    return (gradient.shape, gradient.dtype) if isinstance(gradient, Tensor) else None


def _needs_gradient(entry: object) -> bool:
    return isinstance(entry, Tensor) and entry.requires_grad
