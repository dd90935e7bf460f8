# %% [markdown]
# # Homework 3: recurrent networks
#
# You build what lectures 07 to 09 are about: a network whose state carries the past, the gradient that
# travels back through it, what becomes of that gradient on the way, the gates that help it, and labels for
# every word of a text. In the end a network of yours must remember a word over a distance.
#
# | part | about | minutes | points | bonus |
# |---|---|---|---|---|
# | A | a state, step by step | 35 | 18 |  |
# | B | backpropagation through time, by hand | 50 | 17 |  |
# | C | long texts in pieces | 45 | 14 |  |
# | D | gradients that vanish and explode | 50 | 27 |  |
# | E | several layers, both directions | 50 | 17 | 10 minutes, 7 points |
# | F | gates: LSTM and GRU | 50 | 25 |  |
# | G | labels for every word | 10 | 7 | 15 minutes, 11 points |
# | H | the distance experiment; a fault to find | 75 | 24 |  |
# |  | together | 365 | 149 | 25 minutes, 18 points |
#
# That is about six hours, and half an hour of bonus. A *bonus* is marked in its heading: its points come on
# top of the homework's maximum, and nothing else needs it, so leave out what you like.
#
# Each exercise is a statement, a function for you to write, and its checks. Some checks are kept back for
# grading: they make the same claims about other sizes and other numbers. Take the exercises in any order. You
# may use your answer to one exercise in any other: grading runs all your cells first. What you build here,
# torch has too: in exercises 1 to 18 its recurrent layers and cells (`nn.RNN`, `nn.LSTMCell`, …) may be
# compared with, but an answer that calls them gets no points. At the end your LSTM remembers what PyTorch's
# plain network forgets.
#
# Words used throughout: B texts are read at once, T words of each; `d_input` is the number of numbers per
# word, `d_hidden` the width $D$ of the state. The states of B texts are the **rows** of a matrix (B, D), and
# inputs are (B, T, d_input). `W` (D, d_input) reads the word, `U` (D, D) reads the state before it, and `b`
# (D,) is a constant. Numbers are float64, words are int64, logarithms are natural.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_true,
    with_weights,
)
from course.mine import look


def numbers(*rows):
    """A float64 tensor of these rows."""
    return torch.tensor(rows, dtype=torch.float64)


# %% provided="recurrent_weights" helper
def rnn_weights(draw, d_input, d_hidden):
    """Random weights of a recurrent layer, by name."""
    return {
        "W": draw.normal(d_hidden, d_input) / 2,
        "U": draw.normal(d_hidden, d_hidden) / 2,
        "b": draw.normal(d_hidden) / 2,
    }


def torch_rnn(W, U, b):
    """torch's own recurrent layer with these weights; its two constants are only ever added."""
    layer = nn.RNN(W.shape[1], W.shape[0], batch_first=True).double()
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    layer.load_state_dict(dict(zip(names, (W, U, b, torch.zeros_like(b)), strict=True)))
    return layer
