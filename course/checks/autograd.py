"""Gradients across the border: a backward pass through a student's answer becomes an event of the trace.

Tensors that need gradients enter and leave a call through an identity whose backward takes note; replaying
the event sends the same gradients into the answer of another object.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from course.checks.plain import copied, mapped, snapshot, tensors_in
from course.checks.trace import Answer, Event, Outcome, Trace


class Border(torch.autograd.Function):
    """The identity, which tells `note` the gradients that pass on their way back."""

    @staticmethod
    def forward(ctx, note: Callable[[tuple], None], *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.note = note
        return tuple(tensor.clone() for tensor in tensors)

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple:
        ctx.note(gradients)
        return (None, *gradients)


def entering(trace: Trace, index: int, arguments: tuple) -> tuple:
    """Copies of the arguments of event `index`, tied to the originals by their gradients."""
    copies = _across(arguments, lambda gradients: _note_arguments(trace, index, gradients))
    for tensor in differentiable(copies):
        tensor.retain_grad()  # so that a student may read x.grad, as with a tensor of one's own
    return copies


def leaving(trace: Trace, index: int, value: object) -> object:
    """A copy of the answer to event `index`, tied to the student's own tensors by its gradients."""
    return _across(value, lambda gradients: _note_answer(trace, index, gradients))


def differentiable(value: object) -> list[Tensor]:
    """The tensors inside a value that need gradients, in order."""
    return [tensor for tensor in tensors_in(value) if tensor.requires_grad]


def send_back(answer: object, gradients: Sequence[Tensor]) -> None:
    """Send one gradient into each differentiable tensor of an answer; raises RuntimeError where none fits.

    Through the sum of the products, because `torch.autograd.backward` imports sympy, for a second or more, to
    compare the shapes of gradients that it is given.
    """
    tensors = differentiable(answer)
    if [tensor.shape for tensor in tensors] != [gradient.shape for gradient in gradients]:
        raise RuntimeError("the answer has no tensors of the shapes of these gradients")
    with torch.enable_grad():
        products = [(tensor * gradient).sum() for tensor, gradient in zip(tensors, gradients, strict=True)]
        torch.stack(products).sum().backward(retain_graph=True)


def _across(value: object, note: Callable[[tuple], None]) -> object:
    inside = differentiable(value) if torch.is_grad_enabled() else []
    if not inside:
        return mapped(value, copied)
    outside = iter(Border.apply(note, *inside))
    return mapped(value, lambda entry: next(outside) if _needs_gradient(entry) else copied(entry))


def _needs_gradient(entry: object) -> bool:
    return isinstance(entry, Tensor) and entry.requires_grad


def _note_answer(trace: Trace, index: int, gradients: tuple) -> None:
    trace.events.append(Event(Answer(index), "backward", snapshot(gradients), {}, Outcome("value")))


def _note_arguments(trace: Trace, index: int, gradients: tuple) -> None:
    for position in range(len(trace.events) - 1, index, -1):
        event = trace.events[position]
        if event.target == Answer(index):
            trace.events[position] = replace(event, outcome=Outcome("value", snapshot(gradients)))
            return
