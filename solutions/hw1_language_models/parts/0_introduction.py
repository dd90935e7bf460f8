# %% [markdown]
# # Homework 1: language models
#
# You build the ideas of lectures 01 to 04 yourself: the probability of a sentence, the perplexity of a corpus
# and the floor below which no model can go; then n-gram models with their smoothing; then a byte-pair
# tokenizer, and the one unit in which models with different tokenizers can be compared.
#
# | part | about | minutes | points |
# |---|---|---|---|
# | A | chain rule, perplexity, entropy rate | 80 | 40 |
# | B | n-gram models | 95 | 46 |
# | C | byte-pair encoding, bits per byte | 90 | 39 |
# |  | together | 265 | 125 |
#
# Each exercise is a statement, a function for you to write, and its checks. A check is a claim such as "`<s>`
# is given, not predicted". It says whether the claim holds for your function and, where it can, which mistake
# your numbers look like. Some checks are kept back for grading: they make the same claims about other sizes
# and other numbers. Take the exercises in any order. You may use your answer to one exercise in any other:
# grading runs all your cells first. At the end your n-grams write, and take their place on the ladder.
#
# Words used throughout: a **token** is one unit of text, a **context** is what comes before a token, and
# `vocab_size` is the number of different tokens that can be predicted. Logarithms are natural, in **nats**,
# unless a statement says **bits**, which are logarithms to base 2.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
from collections import Counter

import torch
from torch import Tensor

from course.checks import assert_close, assert_depends, assert_equal, assert_true

BOS, EOS = "<s>", "</s>"  # every sentence begins with the first and ends with the second
