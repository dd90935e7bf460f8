"""What goes wrong with the gates of an LSTM, and with its forget bias."""

import torch
from torch import nn

from autograder.catalogue import misconception

# 16. LSTMCell


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


@misconception(of="LSTMCell", seen="https://github.com/pytorch/pytorch/issues/750")
class GatesInTheOrderIFOG(_Cell):
    """The rows are read in the order i, f, o, g, so the candidate and the output gate have changed places.

    In which order does the statement list the rows? In the example only the third block of W is not zero:
    which of your four variables does it become?
    """

    def sums(self, x, h):
        i, f, o, g = super().sums(x, h)
        return i, f, g, o


@misconception(of="LSTMCell")
class GatesInTheOrderFIGO(_Cell):
    """The rows are read in the order f, i, g, o, so the input gate and the forget gate have changed places.

    Hold the first block open and the second shut. Should the cell take the candidate or keep what it has?
    """

    def sums(self, x, h):
        f, i, g, o = super().sums(x, h)
        return i, f, g, o


@misconception(of="LSTMCell", seen="https://github.com/ddbourgin/numpy-ml/issues/42")
class ConstantOfAnotherGate(_Cell):
    """The input gate uses the constant of the forget gate, as happens when a line is copied.

    Compare your four lines letter by letter. Which index does each of them use, and for which block of b?
    """

    def sums(self, x, h):
        i, f, g, o = super().sums(x, h)
        b_i, b_f, _, _ = self.b.chunk(4)
        return i - b_i + b_f, f, g, o


@misconception(of="LSTMCell")
class CellShownWithoutTanh(_Cell):
    """The cell is shown as it is; the tanh between c and h is missing.

    How large can the cell become after a hundred words, and how large may h be?
    """

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c, c


@misconception(of="LSTMCell")
class OldCellNotForgotten(_Cell):
    """The old cell is added whole; the forget gate is computed and not used.

    Shut the forget gate. What of the old cell is left in the new one?
    """

    def step(self, i, f, g, o, c):
        c = c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


@misconception(of="LSTMCell")
class SigmoidForTheCandidate(_Cell):
    """The candidate goes through a sigmoid like the gates, so nothing can ever be subtracted from the cell.

    Which of the four is no gate? What would the cell do over a long text if it could only grow?
    """

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + i.sigmoid() * g.sigmoid()
        return o.sigmoid() * c.tanh(), c


@misconception(of="LSTMCell")
class CellReturnedFirst(_Cell):
    """The two results are returned the wrong way round, the cell before the state.

    In which order does the statement list what comes back? Which of the two is the one that is shown?
    """

    def forward(self, x, state):
        return super().forward(x, state)[::-1]


@misconception(of="LSTMCell")
class OldCellShown(_Cell):
    """The state shows the cell before the word; what the word has written is seen only a step later.

    Which c stands in the formula of h, the old one or the new one? In which order do your two lines stand?
    """

    def step(self, i, f, g, o, c):
        return o.sigmoid() * c.tanh(), f.sigmoid() * c + i.sigmoid() * g.tanh()


@misconception(of="LSTMCell")
class OneConstantTooMany(_Cell):
    """The cell has two constants for each gate, as torch's has, where the exercise asks for one.

    The two are only ever added. Which parameter of yours is not in the statement?
    """

    def __init__(self, d_input, d_hidden):
        super().__init__(d_input, d_hidden)
        self.b_hidden = nn.Parameter(torch.zeros(4 * d_hidden, dtype=torch.float64))


@misconception(of="LSTMCell")
class WhatIsKeptIsNotWritten(_Cell):
    """What is written is 1 minus what is kept; the input gate is never used.

    How many gates has your c, and how many the formula? What should happen with i and f both open?
    """

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + (1 - f.sigmoid()) * g.tanh()
        return o.sigmoid() * c.tanh(), c


@misconception(of="LSTMCell")
class StateAndCellTakenForEachOther(_Cell):
    """The state that comes in is unpacked the wrong way round, the cell before h.

    In which order does the tuple hold the two? Which of them is multiplied by U?
    """

    def forward(self, x, state):
        c, h = state
        return self.step(*self.sums(x, h), c)


@misconception(of="LSTMCell")
class GatesWithoutConstants(_Cell):
    """b is a parameter of the cell, but no line adds it.

    A bias of 40 should hold a gate open. Where in your forward pass does b occur?
    """

    def sums(self, x, h):
        return (x @ self.W.T + h @ self.U.T).chunk(4, dim=-1)


@misconception(of="LSTMCell")
class CandidateWithoutTanh(_Cell):
    """The candidate is the sum as it is; its tanh is missing.

    How much can be written into the cell at one word, by the formula and by your cell?
    """

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + i.sigmoid() * g
        return o.sigmoid() * c.tanh(), c


@misconception(of="LSTMCell")
class InputGateNotUsed(_Cell):
    """The candidate is written whole; the input gate is computed and never used.

    In which line does your i occur a second time? What should c be with the input gate shut?
    """

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + g.tanh()
        return o.sigmoid() * c.tanh(), c


@misconception(of="LSTMCell")
class SigmoidOfTheCellShown(_Cell):
    """The cell goes through a sigmoid before it is shown, so h is never negative.

    What does your cell show if c is -30? What does the formula show?
    """

    def step(self, i, f, g, o, c):
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.sigmoid(), c


@misconception(of="LSTMCell")
class StateKeptInsteadOfTheCell(_Cell):
    """The forget gate keeps the old h, where it should keep the old c.

    With the forget gate open and the input gate shut, which of the two that came in should come out?
    """

    def forward(self, x, state):
        h, _ = state
        return self.step(*self.sums(x, h), h)


@misconception(of="LSTMCell")
class GatesReadFromTheCell(_Cell):
    """The gates look at the old cell, where they should look at the old state.

    What is multiplied by U in the four formulas? Where does the cell appear?
    """

    def forward(self, x, state):
        _, c = state
        return self.step(*self.sums(x, c), c)


@misconception(of="LSTMCell")
class GatesInTurnRowByRow(_Cell):
    """The rows are dealt out to the gates in turn, as if each unit's four stood together.

    Which rows of W belong to the input gate: the first D, or every fourth?
    """

    def sums(self, x, h):
        return (x @ self.W.T + h @ self.U.T + self.b).unflatten(-1, (-1, 4)).unbind(-1)


@misconception(of="LSTMCell")
class OnlyTheStateReturned(_Cell):
    """Only h is given back; the cell is lost after one word.

    What does the next step need besides h? What does the statement let `forward` return?
    """

    def forward(self, x, state):
        return super().forward(x, state)[0]


# 17. with_forget_bias


def _with_rows(weights, value_of):
    """Copies of the weights, with `value_of(name)` in the forget rows of each bias unless it is None."""
    changed = {name: weight.clone() for name, weight in weights.items()}
    for name, bias in changed.items():
        value = value_of(name) if name.startswith("bias") else None
        if value is not None:
            bias[len(bias) // 4 : len(bias) // 2] = value
    return changed


def _in_one_constant(name, value):
    return value if name.startswith("bias_ih") else 0.0


@misconception(of="with_forget_bias", seen="https://github.com/google-research/flood-forecasting/pull/289")
def lowest_layer_only(weights, value):
    """Only layer 0 gets its forget bias; the layers above begin by forgetting.

    How many names in the dict begin with bias_ih? How many of them does your function touch?
    """
    return _with_rows(weights, lambda name: value / 2 if "_l0" in name else None)


@misconception(of="with_forget_bias")
def lowest_layer_only_in_one_constant(weights, value):
    """Only layer 0 gets its forget bias; the layers above begin by forgetting.

    How many names in the dict begin with bias_ih? How many of them does your function touch?
    """
    return _with_rows(weights, lambda name: _in_one_constant(name, value) if "_l0" in name else None)


@misconception(of="with_forget_bias")
def lowest_layer_forwards_only(weights, value):
    """Only the forward direction of layer 0 gets its forget bias.

    How many names in the dict begin with bias_ih? How many of them does your function touch?
    """
    return _with_rows(weights, lambda name: value / 2 if name.endswith("_l0") else None)


@misconception(of="with_forget_bias")
def value_in_both_constants(weights, value):
    """Both constants are set to the value, so that together they are twice as large.

    What is added to the sum inside the forget gate: one of the two constants, or both?
    """
    return _with_rows(weights, lambda name: value)


@misconception(of="with_forget_bias")
def second_constant_left_random(weights, value):
    """Only one of the two constants is set; the other keeps its random numbers, which are added to it.

    Add up the two constants of the forget gate in your result. Is it the value for each unit?
    """
    return _with_rows(weights, lambda name: value if name.startswith("bias_ih") else None)


@misconception(of="with_forget_bias")
def backward_direction_forgotten(weights, value):
    """The backward direction keeps its old constants.

    How do the names of the backward direction end? Does your search find them?
    """
    return _with_rows(weights, lambda name: None if "reverse" in name else value / 2)


@misconception(of="with_forget_bias")
def rows_of_another_gate(weights, value):
    """The first rows are set, which belong to the input gate.

    In which order are the gates stacked? Which quarter of the constants is the forget gate's?
    """
    changed = {name: weight.clone() for name, weight in weights.items()}
    for name, bias in changed.items():
        if name.startswith("bias"):
            bias[: len(bias) // 4] = value / 2
    return changed


@misconception(of="with_forget_bias")
def all_gates_set(weights, value):
    """The constants of all four gates are set, not those of the forget gate alone.

    What happens to the input gate and to the output gate when their constants are set as well?
    """
    changed = dict(weights)
    for name, bias in weights.items():
        if name.startswith("bias"):
            changed[name] = torch.full_like(bias, value / 2)
    return changed


@misconception(of="with_forget_bias")
def weights_changed_in_place(weights, value):
    """The tensors that were handed in are changed themselves.

    Print the dict you were given after the call. Whose tensors does your new dict hold?
    """
    for name, changed in _with_rows(weights, lambda name: value / 2).items():
        weights[name].copy_(changed)
    return dict(weights)


@misconception(of="with_forget_bias")
def value_added_to_what_is_there(weights, value):
    """The value is added to the constants that are there, which stay random.

    Add up the two constants of a unit in your result. On which numbers, besides the value, does it depend?
    """
    changed = {name: weight.clone() for name, weight in weights.items()}
    for name, bias in changed.items():
        if name.startswith("bias"):
            bias[len(bias) // 4 : len(bias) // 2] += value / 2
    return changed


@misconception(of="with_forget_bias")
def rows_of_the_candidate(weights, value):
    """The third quarter is set, which belongs to the candidate.

    In which order are i, f, g and o stacked, and which quarter is the second?
    """
    changed = {name: weight.clone() for name, weight in weights.items()}
    for name, bias in changed.items():
        if name.startswith("bias"):
            bias[len(bias) // 2 : 3 * len(bias) // 4] = value / 2
    return changed
