"""What goes wrong with gates: the LSTM cell, its forget bias, and the GRU cell."""

import torch
from torch import nn

from autograder.catalogue import misconception

# 16. LSTMCell

SMALL, OTHERS = {"the_example_cell_gives_0_4406"}, {"other_lstm_cells_agree_with_torch"}
KEEPS, CLEARS = {"an_open_forget_gate_keeps_the_cell"}, {"a_shut_forget_gate_clears_the_cell"}
HIDES, WITHIN = {"a_shut_output_gate_shows_nothing"}, {"what_is_shown_stays_within_one"}


class _Cell(nn.Module):
    """The parameters as the exercise wants them, and the right step in pieces to break."""

    n_gates = 4

    def __init__(self, d_input, d_hidden):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(self.n_gates * d_hidden, d_input, dtype=torch.float64))
        self.U = nn.Parameter(torch.zeros(self.n_gates * d_hidden, d_hidden, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(self.n_gates * d_hidden, dtype=torch.float64))

    def sums(self, x, h):
        return (x @ self.W.T + h @ self.U.T + self.b).chunk(4, dim=-1)

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    def forward(self, x, state):
        h, c = state
        return self.step(*self.sums(x, h), c)


@misconception(
    of="LSTMCell",
    fails=SMALL | HIDES | WITHIN | OTHERS,
    seen="https://github.com/pytorch/pytorch/issues/750",
)
class GatesInTheOrderIFOG(_Cell):
    """The rows are read in the order i, f, o, g, so the candidate and the output gate have changed places.

    In which order does the statement list the rows? In the example only the third block of W is not zero:
    which of your four variables does it become?
    """

    def sums(self, x, h):
        i, f, o, g = super().sums(x, h)
        return i, f, g, o


@misconception(of="LSTMCell", fails=KEEPS | CLEARS | WITHIN | OTHERS)
class GatesInTheOrderFIGO(_Cell):
    """The rows are read in the order f, i, g, o, so the input gate and the forget gate have changed places.

    Hold the first block open and the second shut. Should the cell take the candidate or keep what it has?
    """

    def sums(self, x, h):
        f, i, g, o = super().sums(x, h)
        return i, f, g, o


@misconception(
    of="LSTMCell", fails=KEEPS | CLEARS | OTHERS, seen="https://github.com/ddbourgin/numpy-ml/issues/42"
)
class ConstantOfAnotherGate(_Cell):
    """The input gate uses the constant of the forget gate, as happens when a line is copied.

    Compare your four lines letter by letter. Which index does each of them use, and for which block of b?
    """

    def sums(self, x, h):
        i, f, g, o = super().sums(x, h)
        b_i, b_f, _, _ = self.b.chunk(4)
        return i - b_i + b_f, f, g, o


@misconception(of="LSTMCell", fails=SMALL | WITHIN | OTHERS)
class CellShownWithoutTanh(_Cell):
    """The cell is shown as it is; the tanh between c and h is missing.

    How large can the cell become after a hundred words, and how large may h be?
    """

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c, c


@misconception(of="LSTMCell", fails=SMALL | CLEARS | OTHERS)
class OldCellNotForgotten(_Cell):
    """The old cell is added whole; the forget gate is computed and not used.

    Shut the forget gate. What of the old cell is left in the new one?
    """

    def step(self, i, f, g, o, c):
        c = c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


@misconception(of="LSTMCell", fails=SMALL | CLEARS | OTHERS)
class SigmoidForTheCandidate(_Cell):
    """The candidate goes through a sigmoid like the gates, so nothing can ever be subtracted from the cell.

    Which of the four is no gate? What would the cell do over a long text if it could only grow?
    """

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + i.sigmoid() * g.sigmoid()
        return o.sigmoid() * c.tanh(), c


@misconception(of="LSTMCell", fails=SMALL | KEEPS | HIDES | WITHIN | OTHERS)
class CellReturnedFirst(_Cell):
    """The two results are returned the wrong way round, the cell before the state.

    In which order does the statement list what comes back? Which of the two is the one that is shown?
    """

    def forward(self, x, state):
        return super().forward(x, state)[::-1]


@misconception(of="LSTMCell", fails=SMALL | OTHERS)
class OldCellShown(_Cell):
    """The state shows the cell before the word; what the word has written is seen only a step later.

    Which c stands in the formula of h, the old one or the new one? In which order do your two lines stand?
    """

    def step(self, i, f, g, o, c):
        return o.sigmoid() * c.tanh(), f.sigmoid() * c + i.sigmoid() * g.tanh()


@misconception(
    of="LSTMCell",
    fails=SMALL | KEEPS | CLEARS | HIDES | WITHIN | OTHERS | {"the_lstm_has_three_parameters"},
)
class OneConstantTooMany(_Cell):
    """The cell has two constants for each gate, as torch's has, where the exercise asks for one.

    The two are only ever added. Which parameter of yours is not in the statement?
    """

    def __init__(self, d_input, d_hidden):
        super().__init__(d_input, d_hidden)
        self.b_hidden = nn.Parameter(torch.zeros(4 * d_hidden, dtype=torch.float64))


# 17. with_forget_bias

SUM, EVERY_LAYER = {"the_two_constants_of_f_add_up_to_the_value"}, {"every_layer_gets_it"}
DIRECTIONS, REST = {"both_directions_get_it"}, {"nothing_else_moves"}
NETWORKS = {"other_networks_get_their_forget_bias"}


def _with_rows(weights, value_of):
    """Copies of the weights, with `value_of(name)` in the forget rows of each bias unless it is None."""
    changed = {name: weight.clone() for name, weight in weights.items()}
    for name, bias in changed.items():
        value = value_of(name) if name.startswith("bias") else None
        if value is not None:
            bias[len(bias) // 4 : len(bias) // 2] = value
    return changed


def _first_constant(name, value):
    return value if name.startswith("bias_ih") else 0.0


@misconception(
    of="with_forget_bias",
    fails=EVERY_LAYER | NETWORKS,
    seen="https://github.com/google-research/flood-forecasting/pull/289",
)
def lowest_layer_only(weights, value):
    """Only layer 0 gets its forget bias; the layers above begin by forgetting.

    How many names in the dict begin with bias_ih? How many of them does your function touch?
    """
    return _with_rows(weights, lambda name: _first_constant(name, value) if "_l0" in name else None)


@misconception(of="with_forget_bias", fails=SUM | EVERY_LAYER | DIRECTIONS | NETWORKS)
def value_in_both_constants(weights, value):
    """Both constants are set to the value, so that together they are twice as large.

    What is added to the sum inside the forget gate: one of the two constants, or both?
    """
    return _with_rows(weights, lambda name: value)


@misconception(of="with_forget_bias", fails=SUM | EVERY_LAYER | DIRECTIONS | NETWORKS)
def second_constant_left_random(weights, value):
    """Only one of the two constants is set; the other keeps its random numbers, which are added to it.

    Add up the two constants of the forget gate in your result. Is it the value for each unit?
    """
    return _with_rows(weights, lambda name: value if name.startswith("bias_ih") else None)


@misconception(of="with_forget_bias", fails=DIRECTIONS | NETWORKS)
def backward_direction_forgotten(weights, value):
    """The backward direction keeps its old constants.

    How do the names of the backward direction end? Does your search find them?
    """
    return _with_rows(weights, lambda name: None if "reverse" in name else _first_constant(name, value))


@misconception(of="with_forget_bias", fails=SUM | EVERY_LAYER | DIRECTIONS | REST | NETWORKS)
def rows_of_another_gate(weights, value):
    """The first rows are set, which belong to the input gate.

    In which order are the gates stacked? Which quarter of the constants is the forget gate's?
    """
    changed = {name: weight.clone() for name, weight in weights.items()}
    for name, bias in changed.items():
        if name.startswith("bias"):
            bias[: len(bias) // 4] = _first_constant(name, value)
    return changed


@misconception(of="with_forget_bias", fails=REST | NETWORKS)
def all_gates_set(weights, value):
    """The constants of all four gates are set, not those of the forget gate alone.

    What happens to the input gate and to the output gate when their constants are set as well?
    """
    changed = dict(weights)
    for name, bias in weights.items():
        if name.startswith("bias"):
            changed[name] = torch.full_like(bias, _first_constant(name, value))
    return changed


@misconception(of="with_forget_bias", fails=REST)
def weights_changed_in_place(weights, value):
    """The tensors that were handed in are changed themselves.

    Print the dict you were given after the call. Whose tensors does your new dict hold?
    """
    for name, changed in _with_rows(weights, lambda name: _first_constant(name, value)).items():
        weights[name].copy_(changed)
    return dict(weights)


# 18. GRUCell

ELEVEN, GRUS = {"the_example_cell_gives_0_7311"}, {"other_gru_cells_agree_with_torch"}
STAYS, HIDDEN_PAST = {"an_update_gate_at_one_keeps_the_state"}, {"a_reset_gate_at_zero_hides_the_past"}
AFTER, COUNTS = {"the_reset_gate_acts_after_the_product"}, {"b_candidate_counts_where_the_reset_gate_is_open"}


class _GRU(_Cell):
    n_gates = 3

    def __init__(self, d_input, d_hidden):
        super().__init__(d_input, d_hidden)
        self.b_candidate = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))

    def gates(self, x, h):
        r_x, z_x, n_x = (x @ self.W.T + self.b).chunk(3, dim=-1)
        r_h, z_h, n_h = (h @ self.U.T).chunk(3, dim=-1)
        return (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid(), n_x, n_h

    def candidate(self, r, n_x, n_h, h):
        return torch.tanh(n_x + r * (n_h + self.b_candidate))

    def mixed(self, z, n, h):
        return (1 - z) * n + z * h

    def forward(self, x, h):
        r, z, n_x, n_h = self.gates(x, h)
        return self.mixed(z, self.candidate(r, n_x, n_h, h), h)


@misconception(
    of="GRUCell",
    fails=STAYS | HIDDEN_PAST | GRUS,
    seen="https://github.com/pytorch/pytorch/issues/20129",
)
class UpdateGateTheOtherWayRound(_GRU):
    """z and 1 - z have changed places: an update gate of 1 takes the candidate and forgets the state.

    Hold z at 1. Should the state stay or be replaced, by the formula of this exercise?
    """

    def mixed(self, z, n, h):
        return z * n + (1 - z) * h


@misconception(
    of="GRUCell",
    fails=HIDDEN_PAST | AFTER | GRUS,
    seen="https://github.com/pytorch/pytorch/issues/99531",
)
class ResetBeforeTheProduct(_GRU):
    """The reset gate acts on the state before the product with U, as in the paper, and not after it.

    If unit 0 listens to unit 1, which unit's reset gate should decide: the one that listens, or the one that
    is listened to?
    """

    def candidate(self, r, n_x, n_h, h):
        return torch.tanh(n_x + (r * h) @ self.U.chunk(3)[2].T + self.b_candidate)


@misconception(
    of="GRUCell",
    fails=ELEVEN | HIDDEN_PAST | GRUS,
    seen="https://github.com/zhiyongc/GRU-D/issues/2",
)
class ResetGateNotUsed(_GRU):
    """The reset gate is computed, and the candidate sees the whole past all the same.

    In which line does your r occur a second time?
    """

    def candidate(self, r, n_x, n_h, h):
        return super().candidate(torch.ones_like(r), n_x, n_h, h)


@misconception(of="GRUCell", fails=HIDDEN_PAST | GRUS)
class CandidatesConstantOutsideTheReset(_GRU):
    """b_candidate is added outside the bracket, where the reset gate cannot take it away.

    With r = 0, which of the two constants of the candidate should still count?
    """

    def candidate(self, r, n_x, n_h, h):
        return torch.tanh(n_x + r * n_h + self.b_candidate)


@misconception(of="GRUCell", fails=COUNTS | GRUS)
class CandidatesConstantLeftOut(_GRU):
    """b_candidate is a parameter of the cell, but no line adds it.

    Which of the four parameters gets no gradient in your cell?
    """

    def candidate(self, r, n_x, n_h, h):
        return torch.tanh(n_x + r * n_h)


@misconception(of="GRUCell", fails=STAYS | COUNTS | GRUS)
class ResetAndUpdateExchanged(_GRU):
    """The first block is read as the update gate and the second as the reset gate.

    In which order are r, z and n stacked? Which of your variables does the first block become?
    """

    def gates(self, x, h):
        z, r, n_x, n_h = super().gates(x, h)
        return r, z, n_x, n_h


@misconception(of="GRUCell", fails=ELEVEN | STAYS | GRUS)
class NothingReplaced(_GRU):
    """The candidate is added to the state that stays, without the factor 1 - z, so the state can grow.

    How much of the candidate may enter if the update gate keeps everything?
    """

    def mixed(self, z, n, h):
        return n + z * h


@misconception(
    of="GRUCell",
    fails=ELEVEN | STAYS | HIDDEN_PAST | AFTER | COUNTS | GRUS | {"the_gru_has_four_parameters"},
)
class OneConstantForTheCandidate(_Cell):
    """The cell has one constant for the candidate; the second, which stands inside the reset, is missing.

    Compare the two constants in the formula of n. Is there a b that can play both parts, whatever r is?
    """

    n_gates = 3

    def forward(self, x, h):
        r_x, z_x, n_x = (x @ self.W.T + self.b).chunk(3, dim=-1)
        r_h, z_h, n_h = (h @ self.U.T).chunk(3, dim=-1)
        z = (z_x + z_h).sigmoid()
        return (1 - z) * torch.tanh(n_x + (r_x + r_h).sigmoid() * n_h) + z * h
