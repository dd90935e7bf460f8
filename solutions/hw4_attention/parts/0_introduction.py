# %% [markdown]
# # Homework 4: translating with one vector, and with attention
#
# You build a translator twice. First as in lecture 10: one network reads the source into a single vector,
# another writes the translation from it. Then with the attention of lecture 11, which lets every step look
# back at all of the source. In the end you train one on two small languages whose alignment is known, so that
# the picture of its attention can be right or wrong.
#
# | part | about | minutes | points | bonus |
# |---|---|---|---|---|
# | A | an encoder, a decoder, their loss, greedy decoding, honest numbers | 160 | 57 |  |
# | B | scores, weights, contexts, a decoder that attends | 110 | 43 | 10 minutes, 5 points |
# | C | attention maps, alignment error rate, a trained translator | 125 | 42 |  |
# |  | together | 395 | 142 | 10 minutes, 5 points |
#
# That is about six and a half hours, and ten minutes of bonus. A *bonus* is marked in its heading: its points
# come on top of the homework's maximum, and nothing else needs it, so leave out what you like.
#
# Each exercise is a statement, a function or class for you to write, and its checks. Some checks are kept
# back for grading: they make the same claims about other sizes and other numbers. Take the exercises in
# any order. You may use your answer to one exercise in any other: grading runs all your cells first. Exercise 19
# trains for about ten seconds of one core, and so does the end, where a translator made of your own parts aligns.
#
# Words used throughout: B sentences are handled at once; a **source** has S positions and its translation,
# the **target**, T. The two are different numbers. Shorter sentences are filled up at the end with a
# **padding** word. D is the width of the decoder's state and $D_h$ that of the **memory**, the encoder's states.
# **Scores** are the numbers before the softmax over the source, **weights** those after it, and the
# **context** is the weighted mean. Tensors of numbers are float64, words are int64.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
from functools import cache

import torch
from torch import Tensor, nn

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_raises,
    assert_true,
    with_weights,
)
