# %% [markdown]
# # Homework 6: a GPT that you wrote yourself
#
# You build the model of lecture 15 and the generation of lecture 16: the loss with its shift, the causal
# block, the whole GPT with the names and shapes of GPT-2, so that the weights of the real one would run in
# it; you train it on the stories of the course and hold it against their exact entropy. Then everything that
# stands between log-probabilities and a text: the loop, the samplers, mirostat, beam search, and the cache of
# keys and values.
#
# | part | about | minutes | points | bonus |
# |---|---|---|---|---|
# | A | loss, block, GPT, and the weights of GPT-2 | 125 | 39 |  |
# | B | training | 135 | 30 |  |
# | C | from logits to a text | 115 | 51 | 150 minutes, 56 points |
# | D | searching, and remembering | 50 | 16 | 50 minutes, 11 points |
# | E | what SmolLM2 has and GPT-2 has not | 10 | 6 |  |
# |  | together | 435 | 142 | 200 minutes, 67 points |
#
# That is about seven hours, and three of bonus. A *bonus* is marked in its heading: its points come on top of
# the homework's maximum, and nothing else needs it, so leave out what you like.
#
# Each exercise is a statement, a function for you to write, and its checks. Some checks are kept back for
# grading: they make the same claims about other sizes and other numbers. Exercise 3 needs your class of
# exercise 2, exercise 7 those of 2 and 3, and the last check of exercise 4 loads weights into your class of
# exercise 3. All others stand alone, so take them in any order. You may use your solution to one exercise in
# any other, for instance `top_k` in exercise 15: grading runs all your cells first. If that other
# answer is wrong, the exercise that uses it is judged once more with a right one in its place.
#
# Letters: B sequences at once, T positions, V tokens in the vocabulary (`vocab_size`), C positions that a
# model can see at most (`context_length`), D numbers per position (`d_model`), H heads of $d_k = D / H$ numbers
# each. **Logits** are the numbers before the softmax. Logarithms are natural, losses are in nats, unless a
# statement says **bits**. Tokens are int64.
#
# The solved notebook takes 13 seconds of one core and 0.45 GB; training the model of exercise 7 takes 9 of
# these seconds. With `COURSE_SCALE=full` in the environment that exercise has longer stories and trains six
# layers of 384 numbers, which is meant for a GPU; its cell prints the seconds and the memory that it took.
# At the end your GPT runs weights in GPT-2's layout, and your parts of this homework and of homework 5 run SmolLM2,
# 20 seconds of one core and 1 GB.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
import os
import time
from functools import cache, partial
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from course.checks import (
    answer_of_new,
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_true,
    same,
    with_weights,
)
from course.mine import look
