# %% [markdown]
# # Homework 5: the Transformer, from a dot product to the encoder
#
# You build everything between the embeddings and the output of a Transformer encoder: attention and its
# masks, heads, positions, norms, blocks. In the end your encoder computes the same numbers, and the same
# gradients, as `torch.nn.TransformerEncoder` with the same weights. It rests on lectures 12 to 14.
#
# | part | about | minutes | points | bonus |
# |---|---|---|---|---|
# | A | attention and its masks | 85 | 39 | 25 minutes, 8 points |
# | B | heads, and what order means to them | 65 | 30 | 15 minutes, 4 points |
# | C | positions | 80 | 33 | 30 minutes, 12 points |
# | D | norms, blocks, the encoder, and a language model of your parts | 65 | 41 | 30 minutes, 19 points |
# |  | together | 295 | 143 | 100 minutes, 43 points |
#
# That is about five hours, and an hour and a half of bonus. A *bonus* is marked in its heading: its points
# come on top of the homework's maximum, and nothing else needs it, so leave out what you like.
#
# Each exercise is a statement, a function or a class for you to write, and its checks. Some checks are kept
# back for grading: they make the same claims about other sizes and other numbers. Take the exercises in any order,
# but for two: 21 is made of 20, and the last, 30, of 26. You may call what you wrote for another exercise everywhere:
# grading runs all your cells first. At the end your parts are put together, and what they make reads and writes
# stories.
#
# Letters used throughout: B sequences at once; T **queries**, the positions that ask; S **keys**, the
# positions that are looked at (S = T in self-attention); D = `d_model`, the width of the model; H = `n_heads`;
# $d_k = D / H$ = `d_head`, the width of one head; F = `d_ff`; V words in the vocabulary. **Scores** are the
# numbers before the softmax, **weights** those after it. *The paper* is Vaswani and others (2017). One convention holds for every mask: **True means "may be attended to"**.
#
# Tensors of numbers are float64, unless an exercise says otherwise. **Modules** are filled by the checks: they make your module float64 with
# `.double()` and load weights with `load_state_dict`, so its parameters must have the names and shapes that
# the statement gives. `nn.Linear(3, 5)` as an attribute `expand`, for instance, has the parameters
# `expand.weight` (5, 3) and `expand.bias` (5,).

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math

import torch
from torch import Tensor, nn
from torch.nn import functional

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
from course.mine.ready.hw5_transformer import SelfAttention, TwoLayers  # parts of the blocks in 26 and 27
