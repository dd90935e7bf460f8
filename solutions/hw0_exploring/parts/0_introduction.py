# %% [markdown]
# # Homework 0: exploring language models
#
# Welcome. This homework shows how homework works, practises the few tensor moves that everything later rests
# on, and lets you question a real language model: how likely it finds a text, into which pieces it cuts a
# name, whether it says the same when asked in other words, what it can do and what it cannot. At the end you
# guess the next word against it. You need some Python and some familiarity with torch.
#
# | part | about | minutes | points |
# |---|---|---|---|
# | A | how checks and hints work | 8 | 3 |
# | B | axes: split, merge, broadcast, count, and find a fault | 44 | 23 |
# | C | exploring a real model | 88 | 27 |
# | D | you against the model | 10 | 5 |
# |  | together | 150 | 58 |
#
# **How to work.** Run the cells from top to bottom, each with Shift + Enter. An exercise is a statement, a
# function for you to write, and its checks. Write your code in place of the two lines `# YOUR CODE HERE` and
# `raise NotImplementedError`, run that cell, then run the checks below it. After every change run the
# function's cell again, or the checks still see the old one.
#
# A **check** is a claim about your function, such as "a group is a run of neighbours". The cell of the checks,
# folded until you click it, says of each whether it holds. Of the first that does not, it says what was
# received and what expected; where it knows the mistake, it asks you about it. Some checks are kept back for
# grading; they make the same claims about other sizes and other numbers. **Hints** stand under the statement,
# from a gentle one to a plain one; each time the checks fail and no mistake is known, they show you one more.
# Try as often as you like: only what stands in the end counts. You may use your answer to one exercise in any
# other: grading runs all your cells first.
#
# **Letters used throughout.** B sequences are handled at once, each has T positions, each position has D
# numbers, its **features**, and a model chooses between V pieces of text. Such numbers are float64, in some
# examples whole numbers; tokens are int64; logarithms are natural, in **nats**, unless **bits** are asked for.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math

import torch
from torch import Tensor
from torch.nn import functional

from course.checks import assert_close, assert_equal, assert_true, say
from course.mine import parts
from course.pretrained import cut, predict
from course.pretrained.chat import SYSTEM, Message, as_text
from course.pretrained.explored import (
    ASKED,
    GAME,
    PIZZA,
    PRESIDENT,
    WORDINGS,
    expected,
    next_after,
    said_after,
)
from course.pretrained.predictions import QUESTIONS
from course.pretrained.recorded import ARTICLE_1
