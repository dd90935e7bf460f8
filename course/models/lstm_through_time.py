"""A whole LSTM layer with its backward pass written out: the numbers of `lstm_step`, in fewer passes.

Step by step, autograd keeps some twenty nodes per step and adds up T gradients of U one by one. By hand, the
gradients at the gates are collected for all steps, and one product gives the gradient of each matrix. The
line to look at is the last one of the loop in `backward`: one step back, the gradient at the cell state is
multiplied by f and by nothing else. As long as the forget gate is open, nothing vanishes on this road.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn import functional as F

from course.shapes import Float


def linear_at_every_step(
    x: Float[Tensor, "time batch d_input"], W: Float[Tensor, "d_output d_input"], b: Tensor | None = None
) -> Float[Tensor, "time batch d_output"]:
    """W x + b, for all steps at once."""
    if x.device.type != "cpu" or x.dtype != torch.float32:
        return F.linear(x, W, b)
    # The same product as a 1 × 1 convolution: on some processors (AMD's, for one) PyTorch's convolutions use
    # wider instructions than its matrix product, and twice the speed of the whole layer depends on it.
    as_image = x[:, None].permute(0, 3, 1, 2)  # (T, d_input, 1, B)
    return F.conv2d(as_image, W[:, :, None, None], b).permute(0, 2, 3, 1)[:, 0]


class LSTMThroughTime(torch.autograd.Function):
    """x (T, B, d_input), h_0, c_0 (B, D), W, U, b → h_1 … h_T (T, B, D) and c_T; gates stacked i, f, g, o."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, x: Tensor, h_0: Tensor, c_0: Tensor, W: Tensor, U: Tensor, b: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The recurrence; every step works in place on rows of tensors that hold all steps."""
        T, B, D = *x.shape[:2], h_0.shape[-1]
        gates = linear_at_every_step(x, W, b).contiguous()  # (T, B, 4D), overwritten step by step
        h, c = (torch.cat([first[None], first.new_empty(T, B, D)]) for first in (h_0, c_0))
        tanh_c = torch.empty_like(c)
        for t in range(1, T + 1):
            stacked = gates[t - 1].addmm_(h[t - 1], U.T)
            i, f, g, o = stacked.chunk(4, dim=-1)
            stacked[:, : 2 * D].sigmoid_()  # i and f
            g.tanh_()
            o.sigmoid_()
            torch.mul(f, c[t - 1], out=c[t]).addcmul_(i, g)
            torch.mul(o, torch.tanh(c[t], out=tanh_c[t]), out=h[t])
        ctx.save_for_backward(x, gates, h, c, tanh_c, W, U)
        return h[1:], c[T]

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, dh_outside: Tensor, dc: Tensor) -> tuple[Tensor | None, ...]:
        """From the last step to the first; dh_outside holds what the layers above ask of each h_t."""
        x, gates, h, c, tanh_c, W, U = ctx.saved_tensors
        T, B, _ = x.shape
        d_gates = torch.empty_like(gates)  # at the gates before their sigmoid or tanh
        dh = torch.zeros_like(dc)
        for t in range(T, 0, -1):
            i, f, g, o = gates[t - 1].chunk(4, dim=-1)
            di, df, dg, do = d_gates[t - 1].chunk(4, dim=-1)
            dh = dh + dh_outside[t - 1]
            dc = torch.addcmul(dc, dh * o, 1 - tanh_c[t].square())
            torch.mul(dc * g, i - i.square(), out=di)
            torch.mul(dc * c[t - 1], f - f.square(), out=df)
            torch.mul(dc * i, 1 - g.square(), out=dg)
            torch.mul(dh * tanh_c[t], o - o.square(), out=do)
            dh = d_gates[t - 1] @ U
            dc = dc * f
        rows = d_gates.view(T * B, -1)
        dx = linear_at_every_step(d_gates, W.T) if ctx.needs_input_grad[0] else None
        dW, dU = rows.T @ x.reshape(T * B, -1), rows.T @ h[:-1].reshape(T * B, -1)
        return dx, dh, dc, dW, dU, rows.sum(dim=0)
