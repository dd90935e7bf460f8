"""Recurrent networks: the same few lines, applied at every step to a state.

RNN (Elman 1990), LSTM (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000) and
GRU (Cho et al. 2014, in the variant of cuDNN and PyTorch). Each cell has two parts: `project` multiplies the
inputs by W, which does not depend on the state, so all steps are computed at once; `step` multiplies the
state by U, which has to wait for the previous step. A state is a tuple of tensors: (h,) or, for the LSTM,
(h, c).

Drawn by `figures.machine("rnn")`, `figures.machine("configurations")`, `figures.machine("lstm_cell")` and
`figures.machine("gru_cell")`.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import nn

from course.kernels import faster_by
from course.kernels.lstm_through_time import lstm_through_time
from course.kernels.recurrence_on_gpu import is_on_gpu, recurrence_on_gpu
from course.models.linear import linear
from course.shapes import Bool, Float, Tensor

State = tuple[Tensor, ...]


def rnn_step(projected: Tensor, state: State, U: Tensor) -> State:
    """h_t = tanh(W x_t + b + U h_{t−1}); `projected` (B, D) is W x_t + b."""
    (h,) = state
    return (torch.tanh(torch.addmm(projected, h, U.T)),)


def lstm_step(projected: Tensor, state: State, U: Tensor) -> State:
    """The gates i, f, o decide what is written, kept and output; `projected` (B, 4D) is W x_t + b.

    c_t = f ⊙ c_{t−1} + i ⊙ g,  h_t = o ⊙ tanh(c_t); the rows of W, U and b are stacked as i, f, g, o.
    """
    h, c = state
    i, f, g, o = torch.addmm(projected, h, U.T).chunk(4, dim=-1)  # four times (B, D)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_step(projected: Tensor, state: State, U: Tensor, b_candidate: Tensor) -> State:
    """r decides how much of h enters the candidate n, z how much of h is kept; `projected` is W x_t + b.

    n = tanh(W_n x + b_n + r ⊙ (U_n h + b_candidate)),  h_t = (1 − z) ⊙ n + z ⊙ h_{t−1}; stacked as r, z, n.
    Here r is applied after the product U_n h, as in cuDNN; in the paper, before it.
    """
    (h,) = state
    d_hidden = h.shape[-1]
    gates_from_input, candidate_from_input = projected.split([2 * d_hidden, d_hidden], dim=-1)  # 2D, D
    gates_from_state, candidate_from_state = (h @ U.T).split([2 * d_hidden, d_hidden], dim=-1)
    r, z = (gates_from_input + gates_from_state).sigmoid().chunk(2, dim=-1)  # each (B, D)
    n = torch.tanh(candidate_from_input + r * (candidate_from_state + b_candidate))
    return (n + z * (h - n),)  # = (1 − z) ⊙ n + z ⊙ h, with one product less


class RNNCell(nn.Module):
    """One step of a plain recurrent network; owns W (D, d_input), U (D, D) and b (D)."""

    n_gates = 1  # how many blocks of D rows are stacked in W, U and b
    n_states = 1
    kernel = "rnn_tanh"  # PyTorch's layer with the same equation

    def __init__(self, d_input: int, d_hidden: int) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.W = nn.Parameter(torch.empty(self.n_gates * d_hidden, d_input))
        self.U = nn.Parameter(torch.empty(self.n_gates * d_hidden, d_hidden))
        self.b = nn.Parameter(torch.empty(self.n_gates * d_hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every weight uniformly from ± 1/√D, as PyTorch does."""
        bound = 1 / math.sqrt(self.d_hidden)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def project(self, x: Float[Tensor, "*steps batch d_input"]) -> Float[Tensor, "*steps batch gates"]:
        """W x + b, for one step or for all of them."""
        return linear(x, self.W, self.b)

    def step(self, projected: Tensor, state: State) -> State:
        """The next state, from a projected input and the previous state."""
        return rnn_step(projected, state, self.U)

    def forward(self, x: Float[Tensor, "batch d_input"], state: State) -> State:
        """The next state, from an input and the previous state."""
        return self.step(self.project(x), state)

    def run(self, x: Float[Tensor, "time batch d_input"], state: State) -> State:
        """The states after every step (T, B, D), from inputs at every step and the state before the first."""
        states = []
        for projected in self.project(x).unbind(0):  # T times (B, gates·D)
            state = self.step(projected, state)
            states.append(state)
        return tuple(torch.stack(parts) for parts in zip(*states, strict=True))

    @faster_by(recurrence_on_gpu, where=is_on_gpu)
    def read(
        self, x: Float[Tensor, "time batch d_input"], state: State
    ) -> tuple[Float[Tensor, "time batch d_hidden"], State]:
        """The hidden states after every step, and the whole state after the last one."""
        states = self.run(x, state)
        return states[0], tuple(part[-1] for part in states)

    def all_states(self, x: Float[Tensor, "time batch d_input"], state: State) -> State:
        """As `run`; where the state is the hidden state alone, `read` has all of it."""
        return self.read(x, state)[:1] if self.n_states == 1 else self.run(x, state)

    def two_biases(self) -> tuple[Float[Tensor, " gates"], Float[Tensor, " gates"]]:
        """PyTorch's two biases: one is added to W x, the other to U h."""
        return self.b, torch.zeros_like(self.b)

    @torch.no_grad()
    def copy_from_torch(self, W: Tensor, U: Tensor, b_input: Tensor, b_hidden: Tensor) -> None:
        """Copy weights in PyTorch's layout, which splits b into two vectors that are always added."""
        self.W.copy_(W)
        self.U.copy_(U)
        self.b.copy_(b_input + b_hidden)


class LSTMCell(RNNCell):
    """One step of an LSTM; W, U and b hold the rows of i, f, g and o."""

    n_gates = 4
    n_states = 2
    kernel = "lstm"

    def reset_parameters(self) -> None:
        """As for the RNN, with a forget bias of 1, so that a new cell remembers (Jozefowicz et al. 2015)."""
        super().reset_parameters()
        nn.init.ones_(self.b[self.d_hidden : 2 * self.d_hidden])

    def step(self, projected: Tensor, state: State) -> State:
        return lstm_step(projected, state, self.U)

    @faster_by(lstm_through_time)
    def run(self, x: Float[Tensor, "time batch d_input"], state: State) -> State:
        """The states after every step, as for the RNN."""
        return super().run(x, state)


class GRUCell(RNNCell):
    """One step of a GRU; W, U and b hold the rows of r, z and n, and b_candidate is added to U_n h."""

    n_gates = 3
    kernel = "gru"

    def __init__(self, d_input: int, d_hidden: int) -> None:
        super().__init__(d_input, d_hidden)
        self.b_candidate = nn.Parameter(torch.zeros(d_hidden))

    def step(self, projected: Tensor, state: State) -> State:
        return gru_step(projected, state, self.U, self.b_candidate)

    def two_biases(self) -> tuple[Float[Tensor, " gates"], Float[Tensor, " gates"]]:
        """As for the RNN, but only U_n h has a bias of its own."""
        gates = self.b_candidate.new_zeros(2 * self.d_hidden)
        return self.b, torch.cat([gates, self.b_candidate])

    @torch.no_grad()
    def copy_from_torch(self, W: Tensor, U: Tensor, b_input: Tensor, b_hidden: Tensor) -> None:
        """Copy weights in PyTorch's layout; only the candidate needs its two biases separately."""
        super().copy_from_torch(W, U, b_input, b_hidden)
        self.b[-self.d_hidden :] = b_input[-self.d_hidden :]
        self.b_candidate.copy_(b_hidden[-self.d_hidden :])


def skip_padding(
    cell: RNNCell, x: Float[Tensor, "time batch d_input"], state: State, mask: Bool[Tensor, "time batch"]
) -> tuple[Float[Tensor, "time batch d_hidden"], State]:
    """Run a cell as if the steps with a False in `mask` did not exist; their output is zero.

    Real steps are moved to the front, so that no padding precedes them; their states are then moved back.
    """
    order = mask.logical_not().to(torch.uint8).argsort(dim=0, stable=True)[:, :, None]  # (T, B, 1)
    states = cell.all_states(x.gather(0, order.expand_as(x)), state)  # each part (T, B, D)
    hidden = states[0].gather(0, order.argsort(dim=0).expand_as(states[0]))  # (T, B, D)
    n_real = mask.sum(dim=0)  # (B,)
    rows = torch.arange(len(n_real), device=x.device)
    after_real = (part[n_real - 1, rows] for part in states)  # each part (B, D)
    has_read = n_real[:, None] > 0  # (B, 1)
    last = tuple(torch.where(has_read, part, first) for part, first in zip(after_real, state, strict=True))
    return torch.where(mask[:, :, None], hidden, 0.0), last


def unroll(
    cell: RNNCell,
    x: Float[Tensor, "batch time d_input"],
    state: State,
    mask: Bool[Tensor, "batch time"] | None = None,
    is_backward: bool = False,
) -> tuple[Float[Tensor, "batch time d_hidden"], State]:
    """Apply one cell at every step; return its hidden states in the order of the text, and its last state."""
    steps, mask = x.transpose(0, 1), None if mask is None else mask.T  # (T, B, …)
    if is_backward:
        steps, mask = steps.flip(0), None if mask is None else mask.flip(0)
    if mask is None:
        hidden, last = cell.read(steps, state)
    else:
        hidden, last = skip_padding(cell, steps, state, mask)
    hidden = hidden.flip(0) if is_backward else hidden
    return hidden.transpose(0, 1), last  # (T, B, D) → (B, T, D)


class RecurrentNetwork(nn.Module):
    """A stack of recurrent layers in one or both directions; RNN, LSTM and GRU differ only in the cell."""

    cell_type = RNNCell

    def __init__(
        self,
        d_input: int,
        d_hidden: int,
        n_layers: int = 1,
        is_bidirectional: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.n_layers = n_layers
        self.n_directions = 2 if is_bidirectional else 1
        self.dropout = nn.Dropout(dropout)  # between layers, as in PyTorch
        widths = [d_input] + [d_hidden * self.n_directions] * (n_layers - 1)
        self.cells = nn.ModuleList(
            self.cell_type(width, d_hidden) for width in widths for _ in range(self.n_directions)
        )

    def initial_state(self, x: Float[Tensor, "batch time d_input"]) -> State:
        """Zeros, one tensor (L · directions, B, D) for each part of the state."""
        shape = (len(self.cells), x.shape[0], self.d_hidden)
        return tuple(x.new_zeros(shape) for _ in range(self.cell_type.n_states))

    def forward(
        self,
        x: Float[Tensor, "batch time d_input"],
        state: State | None = None,
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch time d_output"], State]:
        """The top layer's hidden states (B, T, D · directions) and the final state of every layer.

        `state` is laid out as PyTorch's h_n: layer 0 forwards, layer 0 backwards, layer 1 forwards, …
        Raises ValueError for a state or a mask of the wrong shape.
        """
        state = self.initial_state(x) if state is None else state
        self._check(x, state, mask)
        cells = self._cells_in_order()
        last_states = []
        for layer in range(self.n_layers):
            x = self.dropout(x) if layer > 0 else x
            directions = []
            for direction in range(self.n_directions):
                index = layer * self.n_directions + direction
                start = tuple(part[index] for part in state)
                hidden, last = unroll(cells[index], x, start, mask, is_backward=direction == 1)
                directions.append(hidden)
                last_states.append(last)
            x = directions[0] if self.n_directions == 1 else torch.cat(directions, dim=-1)
        return x, tuple(torch.stack(parts) for parts in zip(*last_states, strict=True))

    def _cells_in_order(self) -> list[RNNCell]:
        return [cast(RNNCell, cell) for cell in self.cells]

    def _check(self, x: Tensor, state: State, mask: Tensor | None) -> None:
        expected = (len(self.cells), x.shape[0], self.d_hidden)
        shapes = [tuple(part.shape) for part in state]
        if shapes != [expected] * self.cell_type.n_states:
            raise ValueError(
                f"state: expected {self.cell_type.n_states} tensor(s) of shape {expected} "
                f"(layers · directions, B, D), got {shapes}"
            )
        if mask is not None and mask.shape != x.shape[:2]:
            raise ValueError(f"mask: expected shape {tuple(x.shape[:2])} (B, T), got {tuple(mask.shape)}")

    def copy_from_torch(self, theirs: nn.Module) -> None:
        """Copy the weights of a torch.nn.RNN, LSTM or GRU of the same sizes."""
        weights = dict(theirs.named_parameters())
        for index, cell in enumerate(self._cells_in_order()):
            layer, direction = divmod(index, self.n_directions)
            suffix = f"_l{layer}" + ("_reverse" if direction == 1 else "")
            cell.copy_from_torch(
                *(weights[name + suffix] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
            )


class RNN(RecurrentNetwork):
    """Layers of h_t = tanh(W x_t + b + U h_{t−1})."""

    cell_type = RNNCell


class LSTM(RecurrentNetwork):
    """Layers of long short-term memory; the state is (h, c)."""

    cell_type = LSTMCell


class GRU(RecurrentNetwork):
    """Layers of gated recurrent units; the state is (h,)."""

    cell_type = GRUCell
