"""All steps of an LSTM with the backward pass written out: as `lstm_step`, in fewer operations.

Step by step, autograd keeps some twenty nodes per step and adds up T gradients of U one by one. Here the
gradients at the gates are collected for all steps, and one product gives the gradient of U. Look at the last
line of the loop in `backward`: in one step back, the gradient at the cell state is multiplied only by f. As
long as the forget gate is open, the gradient does not vanish on this path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from torch import nn
from torch.autograd.function import FunctionCtx, once_differentiable

from course.shapes import Float, Tensor

if TYPE_CHECKING:

    class Cell(Protocol):
        """The part of an LSTM's cell that the kernel uses."""

        @property
        def U(self) -> Tensor:
            """(4D, D)"""

        def project(self, x: Tensor) -> Tensor:
            """Inputs (T, B, d_input) → W x + b (T, B, 4D)."""

else:
    Cell = nn.Module  # whose parameters no protocol sees while a program runs


def lstm_through_time(
    cell: Cell, x: Float[Tensor, "time batch d_input"], state: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    """The states h and c (T, B, D) after every step, from inputs and the state before the first step."""
    projected = cell.project(x)  # (T, B, 4D)
    with torch.autocast(x.device.type, enabled=False):  # its loops are written for one precision
        given = (part.to(cell.U.dtype) for part in (projected, *state))
        return LSTMThroughTime.apply(*given, cell.U)


@runtime_checkable
class Saved(Protocol):
    """What the forward pass has left for the backward pass."""

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors given to `save_for_backward`, in their order."""


class LSTMThroughTime(torch.autograd.Function):
    """W x + b (T, B, 4D), h_0, c_0 (B, D), U → h_1 … h_T, c_1 … c_T (T, B, D); gates stacked i, f, g, o."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, projected: Tensor, h_0: Tensor, c_0: Tensor, U: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The recurrence; every step writes in place into rows of tensors that hold all steps."""
        T, B, D = len(projected), *h_0.shape
        gates = torch.empty_like(projected)
        h, c = (torch.cat([first[None], first.new_empty(T, B, D)]) for first in (h_0, c_0))
        tanh_c = torch.empty_like(c)
        for t in range(1, T + 1):
            stacked = torch.addmm(projected[t - 1], h[t - 1], U.T, out=gates[t - 1])
            i, f, g, o = stacked.chunk(4, dim=-1)
            stacked[:, : 2 * D].sigmoid_()  # i and f
            g.tanh_()
            o.sigmoid_()
            torch.mul(f, c[t - 1], out=c[t]).addcmul_(i, g)
            torch.mul(o, torch.tanh(c[t], out=tanh_c[t]), out=h[t])
        ctx.save_for_backward(gates, h, c, tanh_c, U)
        return h[1:], c[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Saved, dh_outside: Tensor, dc_outside: Tensor) -> tuple[Tensor, ...]:
        """From the last step to the first; dh_outside, dc_outside: upstream gradients of each h_t and c_t."""
        gates, h, c, tanh_c, U = ctx.saved_tensors
        d_gates = torch.empty_like(gates)  # at the gates before their sigmoid or tanh
        dh = dc = torch.zeros_like(c[0])
        for t in range(len(gates), 0, -1):
            i, f, g, o = gates[t - 1].chunk(4, dim=-1)
            di, df, dg, do = d_gates[t - 1].chunk(4, dim=-1)
            dh = dh + dh_outside[t - 1]
            dc = torch.addcmul(dc + dc_outside[t - 1], dh * o, 1 - tanh_c[t].square())
            torch.mul(dc * g, i - i.square(), out=di)
            torch.mul(dc * c[t - 1], f - f.square(), out=df)
            torch.mul(dc * i, 1 - g.square(), out=dg)
            torch.mul(dh * tanh_c[t], o - o.square(), out=do)
            dh = d_gates[t - 1] @ U
            dc = dc * f
        dU = d_gates.flatten(0, 1).T @ h[:-1].flatten(0, 1)
        return d_gates, dh, dc, dU
