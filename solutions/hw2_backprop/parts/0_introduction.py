# %% [markdown]
# # Homework 2: a feed-forward language model, and its gradients by hand
#
# You build the model of lecture 05 and the gradients of lecture 06 yourself: windows of words, softmax and
# cross-entropy that no logit can break, the model, and the two sanity checks that every new training run
# deserves; then your own automatic differentiation, the backward pass of every layer, a way to check a
# gradient, and in the end the whole model forwards and backwards, line by line.
#
# | part | about | minutes | points | bonus |
# |---|---|---|---|---|
# | A | windows, softmax, the model, first losses | 110 | 41 | 10 minutes, 7 points |
# | B | gradients, one rule at a time | 105 | 34 | 40 minutes, 10 points |
# | C | doubting a gradient; the first wrong line | 110 | 32 | 15 minutes, 6 points |
# |  | together | 325 | 107 | 65 minutes, 23 points |
#
# That is about five and a half hours, and one hour of bonus. A *bonus* is marked in its heading: its points
# come on top of the homework's maximum, and nothing else needs it, so leave out what you like.
#
# Each exercise is a statement, a function for you to write, and its checks. Some checks are kept back for
# grading: they make the same claims about other sizes and other numbers. Take the exercises in any order. You
# may use your answer to one exercise in any other: grading runs all your cells first. At the end a network
# learns by your backward pass, which takes about half a minute.
#
# Words used throughout: `n_window` is the number of words $N$ that a prediction may look at, `vocab_size` the
# number of words $V$ it chooses between, `d_embedding` the number $d$ of numbers per word, `d_hidden` the
# width $D$ of the hidden layer, and B the number of windows handled at once. **Logits** are the numbers
# before the softmax. Logarithms are natural, so losses are in nats. Tensors of numbers are float64, words
# are int64.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math

import torch
from torch import Tensor, nn

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_true,
    attribute,
    is_close,
)
from course.mine import look
