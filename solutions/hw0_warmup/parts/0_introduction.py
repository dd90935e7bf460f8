# %% [markdown]
# # Homework 0: warm-up
#
# Welcome. This homework shows how homework works, practises the few tensor moves that everything later rests
# on, and lets you question a small language model. You need some Python and some familiarity with torch.
#
# | part | about | minutes |
# |---|---|---|
# | A | how checks and hints work | 5 |
# | B | axes: split, merge, broadcast, count, and find a fault | 50 |
# | C | a trained model and its own probabilities | 35 |
#
# **How to work.** Run the cells from top to bottom, each with Shift + Enter. An exercise is a statement, a
# function for you to write, and its checks. Write your code in place of the two lines `# YOUR CODE HERE` and
# `raise NotImplementedError`, run that cell, then run the checks below it. After every change run the
# function's cell again, or the checks still see the old one.
#
# A **check** is a claim about your function, such as "a group is a run of neighbours". The cell of the checks,
# folded until you click it, says of each whether it holds. Of the first that does not, it says what was
# received and what expected; where it knows the mistake, it asks you about it. Such answers are the normal way
# to work here. Some checks are kept back for grading; they make the same claims about other sizes and other
# numbers. **Hints** stand under the statement, from a gentle one to a plain one; each time the checks fail and
# no mistake is known, they show you one more. Try as often as you like: only what stands in the end counts.
#
# **Letters used throughout.** B sequences are handled at once, each has T positions, and each position has D
# numbers, its **features**. Such numbers are float64, in some examples whole numbers; tokens are int64;
# logarithms are natural, in **nats**.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from course.checks import Draw, assert_close, assert_equal, assert_true
from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryConfig
from course.data.story_words import Lexicon
