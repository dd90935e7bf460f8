"""What goes wrong with the gates of a GRU."""

import torch
from torch import nn

from autograder.catalogue import misconception

# 18. GRUCell


class _ThreeGates(nn.Module):
    """The parameters W, U and b of three gates."""

    def __init__(self, d_input, d_hidden):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(3 * d_hidden, d_input, dtype=torch.float64))
        self.U = nn.Parameter(torch.zeros(3 * d_hidden, d_hidden, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(3 * d_hidden, dtype=torch.float64))


class _GRU(_ThreeGates):
    """All parameters as the exercise wants them, and the right step in pieces to break."""

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


@misconception(of="GRUCell", seen="https://github.com/pytorch/pytorch/issues/20129")
class UpdateGateTheOtherWayRound(_GRU):
    """z and 1 - z have changed places: an update gate of 1 takes the candidate and forgets the state.

    Hold z at 1. Should the state stay or be replaced, by the formula of this exercise?
    """

    def mixed(self, z, n, h):
        return z * n + (1 - z) * h


@misconception(of="GRUCell", seen="https://github.com/pytorch/pytorch/issues/99531")
class ResetBeforeTheProduct(_GRU):
    """The reset gate acts on the state before the product with U, as in the paper, and not after it.

    If unit 0 listens to unit 1, which unit's reset gate should decide: the one that listens, or the one that
    is listened to?
    """

    def candidate(self, r, n_x, n_h, h):
        return torch.tanh(n_x + (r * h) @ self.U.chunk(3)[2].T + self.b_candidate)


@misconception(of="GRUCell", seen="https://github.com/zhiyongc/GRU-D/issues/2")
class ResetGateNotUsed(_GRU):
    """The reset gate is computed, and the candidate sees the whole past all the same.

    In which line does your r occur a second time?
    """

    def candidate(self, r, n_x, n_h, h):
        return super().candidate(torch.ones_like(r), n_x, n_h, h)


@misconception(of="GRUCell")
class CandidatesConstantOutsideTheReset(_GRU):
    """b_candidate is added outside the bracket, where the reset gate cannot take it away.

    With r = 0, which of the two constants of the candidate should still count?
    """

    def candidate(self, r, n_x, n_h, h):
        return torch.tanh(n_x + r * n_h + self.b_candidate)


@misconception(of="GRUCell")
class CandidatesConstantLeftOut(_GRU):
    """b_candidate is a parameter of the cell, but no line adds it.

    Which of the four parameters gets no gradient in your cell?
    """

    def candidate(self, r, n_x, n_h, h):
        return torch.tanh(n_x + r * n_h)


@misconception(of="GRUCell")
class ResetAndUpdateExchanged(_GRU):
    """The first block is read as the update gate and the second as the reset gate.

    In which order are r, z and n stacked? Which of your variables does the first block become?
    """

    def gates(self, x, h):
        z, r, n_x, n_h = super().gates(x, h)
        return r, z, n_x, n_h


@misconception(of="GRUCell")
class NothingReplaced(_GRU):
    """The candidate is added to the state that stays, without the factor 1 - z, so the state can grow.

    How much of the candidate may enter if the update gate keeps everything?
    """

    def mixed(self, z, n, h):
        return n + z * h


@misconception(of="GRUCell")
class OneConstantForTheCandidate(_ThreeGates):
    """The cell has one constant for the candidate: `b_candidate`, inside the reset, is no parameter of it.

    Print the names in `cell.state_dict()`. Could one of them play the part of `b_candidate`, whatever r is?
    """

    def forward(self, x, h):
        r_x, z_x, n_x = (x @ self.W.T + self.b).chunk(3, dim=-1)
        r_h, z_h, n_h = (h @ self.U.T).chunk(3, dim=-1)
        z = (z_x + z_h).sigmoid()
        return (1 - z) * torch.tanh(n_x + (r_x + r_h).sigmoid() * n_h) + z * h


@misconception(of="GRUCell")
class ResetBeforeTheProductConstantInside(_GRU):
    """The reset gate multiplies the state and b_candidate separately, before they are added in the bracket.

    If unit 0 listens to unit 1, which unit's reset gate decides in your cell, and which in the formula?
    """

    def candidate(self, r, n_x, n_h, h):
        U_n = self.U.chunk(3)[2]
        return torch.tanh(n_x + (r * h) @ U_n.T + r * self.b_candidate)


@misconception(of="GRUCell")
class ResetGateTwice(_GRU):
    """The reset gate acts on the state before the product with U and once more after it.

    How many times does r stand in the formula of n?
    """

    def candidate(self, r, n_x, n_h, h):
        U_n = self.U.chunk(3)[2]
        return torch.tanh(n_x + r * ((r * h) @ U_n.T + self.b_candidate))


@misconception(of="GRUCell")
class WordBehindTheResetGateToo(_GRU):
    """The reset gate multiplies the whole sum, so a shut gate hides the word as well as the past.

    With r = 0, what should the candidate still know? Where does the bracket of r begin?
    """

    def candidate(self, r, n_x, n_h, h):
        return torch.tanh(r * (n_x + n_h + self.b_candidate))


@misconception(of="GRUCell")
class SigmoidForTheCandidateOfTheGRU(_GRU):
    """The candidate goes through a sigmoid like the gates, so nothing in the state ever becomes negative.

    Which of r, z and n is no gate? What does your cell make of a large negative sum?
    """

    def candidate(self, r, n_x, n_h, h):
        return torch.sigmoid(n_x + r * (n_h + self.b_candidate))


@misconception(of="GRUCell")
class ConstantsAddedTwice(_GRU):
    """b is added to the product with W and once more to the product with U.

    How often does each of the three parts of b occur in the formulas, and how often in your sums?
    """

    def gates(self, x, h):
        r_x, z_x, n_x = (x @ self.W.T + self.b).chunk(3, dim=-1)
        r_h, z_h, n_h = (h @ self.U.T + self.b).chunk(3, dim=-1)
        return (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid(), n_x, n_h
