"""Gradients across the process boundary: a backward pass through a student's answer is an event of the trace.

A call is one node of the check's graph. Its backward pass requests the gradients from the student's side and
records them; replaying the event sends the same gradients into the answer of another object.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.plain import copied, mapped, snapshot, tensors_in
from course.checks.trace import Answer, Event, Outcome, Trace

# Maps the gradients of an answer's differentiable tensors to those of the arguments' tensors, in order.
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
    """The tensors inside a value that require gradients, in order."""
    return [tensor for tensor in tensors_in(value) if tensor.requires_grad]


def returned(trace: Trace, index: int, given: object, value: object, backward: Backward | None) -> object:
    """A copy of the answer to event `index`, connected to the arguments of that call by autograd."""
    outputs = differentiable(value)
    if not outputs or backward is None or not torch.is_grad_enabled():
        return mapped(value, copied)
    anchor = torch.zeros((), requires_grad=True)  # for calls where only parameters require gradients
    tied = iter(Crossing.apply(trace, index, backward, outputs, anchor, *differentiable(given)))
    return mapped(value, lambda entry: next(tied) if _needs_gradient(entry) else copied(entry))


def pull(inputs: list[Tensor], outputs: list[Tensor], gradients: Sequence[Tensor]) -> list[Tensor | None]:
    """Run a backward pass on the student's side; the inputs' gradients, while parameters keep their own."""
    for tensor in inputs:
        tensor.grad = None
    send_back(outputs, gradients)
    return [tensor.grad for tensor in inputs]


def send_back(answer: object, gradients: Sequence[Tensor]) -> None:
    """Send one gradient into each differentiable tensor of an answer; raises RuntimeError if shapes differ.

    The backward pass starts from a single number, because `torch.autograd.backward` imports sympy to compare
    the shapes of given gradients, which takes a second or more.
    """
    tensors = differentiable(answer)
    if [tensor.shape for tensor in tensors] != [gradient.shape for gradient in gradients]:
        raise RuntimeError("the shapes of these gradients are not those of the answer's tensors")
    with torch.enable_grad():
        Seeds.apply(gradients, *tensors).backward(retain_graph=True)


def failure(problem: Exception) -> Outcome:
    """The outcome of a call that returned no value."""
    if isinstance(problem, StudentError):
        return Outcome("error", error=problem.error, message=problem.message)
    return Outcome("not_written" if isinstance(problem, NotWritten) else "unreachable", message=str(problem))


def _checked(gradients: Sequence[Tensor | None], inputs: list[tuple]) -> tuple[Tensor, ...] | None:
    """The inputs' gradients, with zeros where none arrives; None if no input gets a gradient."""
    forms = [
        form if gradient is None else _form(gradient)
        for gradient, form in zip(gradients, inputs, strict=False)
    ]
    if len(gradients) != len(inputs) or forms != inputs:
        raise StudentError("RuntimeError", "the gradients do not have the shapes of the arguments")
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
