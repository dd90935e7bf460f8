# %% [markdown]
# # Homework 0: warm-up
#
# Welcome. This homework shows how homework works, practises the few tensor moves that everything later rests
# on, and lets you question a small language model. You need some Python and a first acquaintance with torch.
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
# A **check** is a claim about your function, such as "a group is a run of neighbours". It says that the claim
# holds, or it stops with an error that says what was received and what expected; where it knows the mistake,
# it asks you about it. Such errors are the normal way to work here. Some checks are kept back for grading;
# they make the same claims about other sizes and other numbers. **Hints** stand under the statement, from a
# gentle one to a plain one; each time a check fails, it shows you one more. Try as often as you like: only
# what stands in the end counts.
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

from course.checks import Draw, assert_close, assert_equal, assert_true, homework
from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryConfig
from course.data.story_words import Lexicon

check = homework("hw0_warmup")

# %% [markdown]
# ## Part A. How checks work

# %% [markdown] exercise="different_words" difficulty=1 minutes=5
# ### 1. A first function
#
# Write `different_words(text)`: how many **different** words does a text have? Words are separated by
# blanks, and it makes no difference whether a word is written with capital letters. A text without a word
# has 0.
#
# **Example.** `"The cat saw the dog and the bird"` has 6 different words: the, cat, saw, dog, and, bird.
#
# Try the checks three times. First run the next three cells as they are, and read what the checks say. Then
# let the function return `len(text.split())`, run it and the checks, and read again: now they tell you what
# came, what was expected, and which mistake that looks like. Then write it right.
#
# <details><summary>Hint 1</summary>
#
# `text.split()` is the list of the words. Which container of Python holds each thing only once?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For Python, "The" and "the" are two texts. `help(str)` lists what a text can do; one of its methods writes
# everything in small letters.
#
# </details>


# %% solution="different_words"
def different_words(text: str) -> int:
    """How many different words a text has, capital letters or not."""
    ### BEGIN SOLUTION
    return len(set(text.lower().split()))
    ### END SOLUTION


# %% check="the_example_has_six_words" points=1
def the_example_has_six_words(different_words):
    """`The cat saw the dog and the bird` has 6 different words."""
    assert_equal(different_words("The cat saw the dog and the bird"), 6)


check(the_example_has_six_words, different_words)


# %% check="saying_it_again_adds_no_word" points=1
def saying_it_again_adds_no_word(different_words):
    """A text said three times has as many different words as said once: here 5."""
    assert_equal(different_words(" ".join(["we all saw one bird"] * 3)), 5)


check(saying_it_again_adds_no_word, different_words)


# %% check="other_texts_have_their_words" points=1 hidden
def other_texts_have_their_words(different_words, draw):
    """Other texts, the empty one among them, have as many different words as they have."""
    words = ["mill", "River", "bridge", "river", "Ox", "ox", "OX", "a"]
    for length in (40, 25):
        text = " ".join([*words, *draw.sentence(words, length)])
        assert_equal(different_words(text), 5)
    assert_equal(different_words(""), 0)


check(other_texts_have_their_words, different_words)

# %% [markdown]
# ## Part B. Axes
#
# Most errors in this course will be a number in the wrong place of a tensor that has the right shape. The
# cure is to know, for every axis, what it counts, and to try code on sizes of which no two are equal.

# %% [markdown] exercise="split_groups" difficulty=2 minutes=10
# ### 2. Split an axis
#
# The attention of lecture 13 cuts the D features of every position into H groups of K = D / H neighbours and
# treats each group on its own. Write `split_groups(x, n_groups)`:
#
# | tensor | shape | meaning |
# |---|---|---|
# | `x` | (B, T, D) | D features of each position |
# | result | (B, H, T, K) | `result[b, h, t]` holds the features hK, …, hK + K − 1 of `x[b, t]` |
#
# H is `n_groups`, and D is a multiple of it.
#
# **Example.** One sequence of three positions with eight features, shape (1, 3, 8); the tens say the
# position, the units the feature:
#
# `x = [[[0, 1, 2, 3, 4, 5, 6, 7], [10, 11, 12, 13, 14, 15, 16, 17], [20, 21, 22, 23, 24, 25, 26, 27]]]`
#
# In two groups, the shape is (1, 2, 3, 4): group 0 is `[[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]` and group 1 is
# `[[4, 5, 6, 7], [14, 15, 16, 17], [24, 25, 26, 27]]`.
#
# <details><summary>Hint 1</summary>
#
# `reshape` never moves a number: it reads them in order and puts down new fences. Cutting the last axis in
# two is a matter of fences. Which shape has just that one more fence?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Now the axes are (B, T, H, K), and the groups have to come before time. That moves numbers; which function
# exchanges two axes?
#
# </details>


# %% solution="split_groups"
def split_groups(x: Tensor, n_groups: int) -> Tensor:
    """The features of (B, T, D) cut into groups of neighbours: (B, H, T, K)."""
    ### BEGIN SOLUTION
    B, T, D = x.shape
    return x.reshape(B, T, n_groups, D // n_groups).transpose(1, 2)  # (B, H, T, K)
    ### END SOLUTION


# %% check="the_example_is_split_in_two" points=1
def the_example_is_split_in_two(split_groups):
    """The example has the features 0 to 3 of every position in group 0 and 4 to 7 in group 1."""
    answer = split_groups(torch.tensor([[[*range(8)], [*range(10, 18)], [*range(20, 28)]]]), 2)
    group_0 = [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    group_1 = [[4, 5, 6, 7], [14, 15, 16, 17], [24, 25, 26, 27]]
    assert_equal(answer, torch.tensor([[group_0, group_1]]))


check(the_example_is_split_in_two, split_groups)


# %% check="the_groups_come_before_time" points=1
def the_groups_come_before_time(split_groups):
    """Four sequences of 5 positions with 6 features, in 3 groups, have the shape (4, 3, 5, 2)."""
    answer = split_groups(torch.arange(120).reshape(4, 5, 6), 3)
    assert_equal(list(answer.shape), [4, 3, 5, 2], what="the shape")


check(the_groups_come_before_time, split_groups)


# %% check="a_group_is_a_run_of_neighbours" points=1
def a_group_is_a_run_of_neighbours(split_groups):
    """When every feature holds its own number 0 … 5, group h holds 2h and 2h + 1 at all positions."""
    answer = split_groups(torch.arange(6).expand(4, 5, 6), 3)
    assert_equal(answer, torch.arange(6).reshape(1, 3, 1, 2).expand(4, 3, 5, 2))


check(a_group_is_a_run_of_neighbours, split_groups)


# %% check="every_position_stays_at_its_place" points=1
def every_position_stays_at_its_place(split_groups):
    """When every number is that of its position, so it is in every group."""
    answer = split_groups(torch.arange(5)[:, None].expand(4, 5, 6), 3)
    assert_equal(answer, torch.arange(5)[:, None].expand(4, 3, 5, 2))


check(every_position_stays_at_its_place, split_groups)


# %% check="no_sequence_meets_another" points=1
def no_sequence_meets_another(split_groups):
    """When every number is that of its sequence, so it is in every group."""
    answer = split_groups(torch.arange(4)[:, None, None].expand(4, 5, 6), 3)
    assert_equal(answer, torch.arange(4)[:, None, None, None].expand(4, 3, 5, 2))


check(no_sequence_meets_another, split_groups)


# %% check="other_sizes_are_split" points=2 hidden
def other_sizes_are_split(split_groups, draw):
    """Other sizes are split into their groups."""
    for B, T, n_groups, width in ((3, 7, 2, 5), (5, 2, 4, 3)):
        x = draw.normal(B, T, n_groups * width)
        pieces = [x[:, :, h * width : (h + 1) * width] for h in range(n_groups)]
        assert_close(split_groups(x, n_groups), torch.stack(pieces, dim=1))


check(other_sizes_are_split, split_groups)

# %% [markdown] exercise="merge_groups" difficulty=2 minutes=10
# ### 3. And put it together again
#
# Write `merge_groups(x)`, which undoes the last exercise: `x` is (B, H, T, K), the result (B, T, D) with
# D = H · K, and `result[b, t]` holds the K numbers of group 0 at position t, then those of group 1, and so on.
#
# **Example.** The two groups of the last example, (1, 2, 3, 4), become its `x` again, (1, 3, 8): position 0 has
# the features 0 to 7, position 1 has 10 to 17, position 2 has 20 to 27.
#
# <details><summary>Hint 1</summary>
#
# Fences may be taken away only between numbers that stand side by side already. In (B, H, T, K), what stands
# behind the K numbers of group 0 at position 0?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In which order must the four axes stand, so that the numbers to be joined are neighbours? Once they are,
# use `reshape`: `view` refuses after a transposition, because the numbers have not moved in memory yet.
#
# </details>


# %% solution="merge_groups"
def merge_groups(x: Tensor) -> Tensor:
    """The groups of (B, H, T, K) side by side again: (B, T, H·K)."""
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(start_dim=2)  # (B, T, H, K) → (B, T, D)
    ### END SOLUTION


# %% check="the_example_is_whole_again" points=1
def the_example_is_whole_again(merge_groups):
    """The example has the features 0 to 7 at position 0, 10 to 17, 20 to 27; exchanged groups, 4 to 7 first."""
    group_0 = [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    group_1 = [[4, 5, 6, 7], [14, 15, 16, 17], [24, 25, 26, 27]]
    answer = merge_groups(torch.tensor([[group_0, group_1], [group_1, group_0]]))
    rows = torch.tensor([[*range(8)], [*range(10, 18)], [*range(20, 28)]])
    assert_equal(answer, torch.stack([rows, rows.roll(4, dims=-1)]))


check(the_example_is_whole_again, merge_groups)


# %% check="merged_positions_stay_apart" points=1
def merged_positions_stay_apart(merge_groups):
    """When every number is that of its position, so it is in the end: shape (4, 5, 6) from (4, 3, 5, 2)."""
    answer = merge_groups(torch.arange(5)[:, None].expand(4, 3, 5, 2))
    assert_equal(answer, torch.arange(5)[:, None].expand(4, 5, 6))


check(merged_positions_stay_apart, merge_groups)


# %% check="group_follows_group" points=1
def group_follows_group(merge_groups):
    """When every number is that of its group, each position holds 0, 0, 1, 1, 2, 2."""
    answer = merge_groups(torch.arange(3)[:, None, None].expand(4, 3, 5, 2))
    assert_equal(answer, torch.tensor([0, 0, 1, 1, 2, 2]).expand(4, 5, 6))


check(group_follows_group, merge_groups)


# %% check="other_groups_are_merged" points=2 hidden
def other_groups_are_merged(merge_groups, draw):
    """Other sizes are put together."""
    for shape in ((3, 2, 7, 5), (5, 4, 2, 3)):
        x = draw.normal(*shape)
        assert_close(merge_groups(x), torch.cat(x.unbind(dim=1), dim=-1))


check(other_groups_are_merged, merge_groups)

# %% [markdown] exercise="add_per_position" difficulty=1 minutes=10 exempt="gradient"
# ### 4. Broadcasting
#
# When two tensors of different shapes are added, torch lines up their **last** axes, and an axis of length 1
# is repeated. That is convenient, and it is how a tensor gets added along the wrong axis without a word.
#
# Write `add_per_position(x, offsets)`: `x` is (B, T, D), `offsets` is (T,). The result, (B, T, D), is `x`
# with `offsets[t]` added to all features at position t of every sequence. The caller still needs `x`, so it
# must be left as it is.
#
# **Example.** `x = [[[1, 2, 3], [4, 5, 6]]]` and `offsets = [10, 20]` give `[[[11, 12, 13], [24, 25, 26]]]`.
#
# <details><summary>Hint 1</summary>
#
# Written under each other from the right: (B, T, D) and (T,). Which axis does T meet? Which shape should
# `offsets` have so that T meets T?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Indexing with `None` puts in an axis of length 1: if `v` has the shape (5,), then `v[None]` has (1, 5). At
# which end of `offsets` is the new axis needed? And which of `x + y`, `x += y` and `x.add_(y)` make a new
# tensor?
#
# </details>


# %% solution="add_per_position"
def add_per_position(x: Tensor, offsets: Tensor) -> Tensor:
    """x (B, T, D) with offsets (T,) added to all features of each position, in a new tensor."""
    ### BEGIN SOLUTION
    return x + offsets[:, None]
    ### END SOLUTION


# %% check="the_example_is_11_to_26" points=1
def the_example_is_11_to_26(add_per_position):
    """The example gives 11, 12, 13 at the first position and 24, 25, 26 at the second."""
    x = torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], dtype=torch.float64)
    expected = torch.tensor([[[11.0, 12.0, 13.0], [24.0, 25.0, 26.0]]], dtype=torch.float64)
    assert_close(add_per_position(x, torch.tensor([10.0, 20.0], dtype=torch.float64)), expected)


check(the_example_is_11_to_26, add_per_position)


# %% check="equal_sizes_change_nothing" points=1
def equal_sizes_change_nothing(add_per_position):
    """Three positions, three features, three sequences: the offset still goes by position."""
    offsets = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    expected = torch.tensor([[1.0] * 3, [2.0] * 3, [3.0] * 3], dtype=torch.float64)
    x = torch.tensor([0.0, 10.0, 20.0], dtype=torch.float64)[:, None, None].expand(3, 3, 3)
    assert_close(add_per_position(x, offsets), x + expected)


check(equal_sizes_change_nothing, add_per_position)


# %% check="what_was_given_stays_as_it_was" points=1
def what_was_given_stays_as_it_was(add_per_position, draw):
    """After the call, x and the offsets are what they were, and the result has the shape of x."""
    x, offsets = draw.normal(2, 5, 3), draw.normal(5)
    answer = add_per_position(x, offsets)
    assert_equal(list(torch.as_tensor(answer).shape), [2, 5, 3], what="the shape of the result")


check(what_was_given_stays_as_it_was, add_per_position)


# %% check="other_offsets_go_by_position" points=2 hidden
def other_offsets_go_by_position(add_per_position, draw):
    """Other sizes, equal ones among them, get each offset at its position."""
    for shape in ((2, 5, 3), (4, 4, 7), (3, 6, 6), (5, 5, 5)):
        x, offsets = draw.normal(*shape), draw.normal(shape[1])
        expected = x.clone()
        for t in range(shape[1]):
            expected[:, t] += offsets[t]
        assert_close(add_per_position(x, offsets), expected)


check(other_offsets_go_by_position, add_per_position)

# %% [markdown] exercise="real_lengths" difficulty=1 minutes=10
# ### 5. How long is each sequence?
#
# Sequences of different lengths share a tensor, and the shorter ones are filled up with a padding token.
# Write `real_lengths(tokens, pad)`: `tokens` is (B, T) int64, and the result, (B,) int64, says how many
# tokens of each sequence are not `pad`. A sequence without padding has T. `tokens` must be left as it is.
#
# **Example.** With `pad = 0`, `[[7, 3, 0, 0], [5, 9, 2, 6], [4, 8, 5, 0]]` has the lengths `[2, 4, 3]`: a
# tensor of three whole numbers in a row, not a column of three. Where `pad` is another number, 0 is a token
# like any other.
#
# <details><summary>Hint 1</summary>
#
# Comparing a tensor with a number gives a tensor of the same shape, of True and False. True counts as 1. How
# are the True counted that stand in one row?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Print the shape of your result. Is it (3,), (4,) or (3, 1)? `sum(dim=…)` removes the axis it runs along,
# unless it is told to keep it.
#
# </details>


# %% solution="real_lengths"
def real_lengths(tokens: Tensor, pad: int) -> Tensor:
    """How many tokens of each row of (B, T) are not padding: (B,)."""
    ### BEGIN SOLUTION
    return (tokens != pad).sum(dim=1)
    ### END SOLUTION


# %% check="the_example_has_lengths_2_4_3" points=1
def the_example_has_lengths_2_4_3(real_lengths):
    """The example has the lengths 2, 4 and 3: a tensor of whole numbers."""
    tokens = torch.tensor([[7, 3, 0, 0], [5, 9, 2, 6], [4, 8, 5, 0]])
    assert_equal(real_lengths(tokens, 0), torch.tensor([2, 4, 3]))


check(the_example_has_lengths_2_4_3, real_lengths)


# %% check="another_number_may_be_the_padding" points=1
def another_number_may_be_the_padding(real_lengths):
    """When `pad` is 9 and 0 is a token like any other, three rows have the lengths 2, 5 and 1."""
    tokens = torch.tensor([[7, 0, 9, 9, 9], [5, 0, 2, 6, 3], [4, 9, 9, 9, 9]])
    assert_equal(real_lengths(tokens, 9), torch.tensor([2, 5, 1]))


check(another_number_may_be_the_padding, real_lengths)


# %% check="the_tokens_stay_as_they_were" points=1
def the_tokens_stay_as_they_were(real_lengths):
    """After the call the tokens are what they were before, here with lengths 3, 5 and 2."""
    tokens = torch.tensor([[7, 3, 6, 8, 8], [5, 4, 2, 6, 9], [4, 7, 8, 8, 8]])
    assert_equal(real_lengths(tokens, 8), torch.tensor([3, 5, 2]))


check(the_tokens_stay_as_they_were, real_lengths)


# %% check="other_sequences_have_their_lengths" points=2 hidden
def other_sequences_have_their_lengths(real_lengths, draw):
    """Other sequences, full and nearly empty ones, have their lengths."""
    for pad, n_rows, longest in ((0, 4, 7), (11, 6, 5)):
        lengths = torch.cat([torch.tensor([longest, 1, 2]), draw.integers(1, longest + 1, n_rows - 3)])
        tokens = draw.integers(1, 11, n_rows, longest)
        tokens[torch.arange(longest) >= lengths[:, None]] = pad
        assert_equal(real_lengths(tokens, pad), lengths)


check(other_sequences_have_their_lengths, real_lengths)

# %% provided="shown_tables"
# For the next exercise: what somebody's `split_groups` made of the numbers 0 … 23, shape (2, 3, 4), two groups.
SHOWN_GROUPS = {
    "sequence 0, group 0": [[0, 1], [2, 3], [4, 5]],
    "sequence 0, group 1": [[12, 13], [14, 15], [16, 17]],
    "sequence 1, group 0": [[6, 7], [8, 9], [10, 11]],
    "sequence 1, group 1": [[18, 19], [20, 21], [22, 23]],
}

# %%
for name, positions in SHOWN_GROUPS.items():
    print(f"{name}: {positions}")

# %% [markdown] exercise="name_the_wrong_move" difficulty=2 minutes=10
# ### 6. Find the fault
#
# Somebody else's `split_groups(x, 2)` was called with `x = torch.arange(24).reshape(2, 3, 4)`: two sequences
# of three positions with four features, all numbers different. The cell above shows what came back. It has the
# right shape, (2, 2, 3, 2), and it is wrong. (Three sizes are equal here, which keeps the table short.)
#
# Exactly one thing is wrong. Write `name_the_wrong_move()`, which takes nothing and returns the name of the
# fault:
#
# | name | what the function would do |
# |---|---|
# | `"reshaped_to_the_final_shape"` | only put down new fences: (B, H, T, K) at once |
# | `"fences_with_the_groups_first"` | read the numbers as (H, B, T, K) and exchange the first two axes |
# | `"every_second_feature"` | cut into (B, T, K, H): neighbours go to different groups |
# | `"groups_in_reverse"` | split rightly, with the last group first |
# | `"positions_in_reverse"` | split rightly, with the last position first |
#
# **Example of the reasoning.** Rightly split, group 0 of sequence 0 is `[[0, 1], [4, 5], [8, 9]]`. With the
# positions in reverse it would be `[[8, 9], [4, 5], [0, 1]]`, so that is not the fault.
#
# The visible check looks only at the beginning of the table, and more than one fault begins like this. Go on
# until a single name is left.
#
# <details><summary>Hint 1</summary>
#
# Write down the twelve numbers of sequence 0 of `x`. Are these the numbers of sequence 0 in the table?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two of the faults only put down fences. Write the numbers 0 … 23 in a row and put the fences of each.
#
# </details>


# %% solution="name_the_wrong_move"
def name_the_wrong_move() -> str:
    """The name of the one fault that makes the table."""
    ### BEGIN SOLUTION
    return "fences_with_the_groups_first"
    ### END SOLUTION


# %% check="the_fault_begins_with_0_1_2_3" points=1
def the_fault_begins_with_0_1_2_3(name_the_wrong_move):
    """The answer is one of the five names, and with that fault the table begins with 0, 1 and 2, 3."""
    first_group = {
        "reshaped_to_the_final_shape": [[0, 1], [2, 3], [4, 5]],
        "fences_with_the_groups_first": [[0, 1], [2, 3], [4, 5]],
        "every_second_feature": [[0, 2], [4, 6], [8, 10]],
        "groups_in_reverse": [[2, 3], [6, 7], [10, 11]],
        "positions_in_reverse": [[8, 9], [4, 5], [0, 1]],
    }
    answer = name_the_wrong_move()
    assert_true(answer in first_group, f"{answer!r} is not one of the five names.")
    assert_equal(first_group[answer], [[0, 1], [2, 3], [4, 5]], what="the first group with that fault")


check(the_fault_begins_with_0_1_2_3, name_the_wrong_move)


# %% check="the_fault_makes_the_whole_table" points=2 hidden
def the_fault_makes_the_whole_table(name_the_wrong_move):
    """The fault you name makes the whole table."""
    x = torch.arange(24).reshape(2, 3, 4)
    right = torch.stack([x[:, :, :2], x[:, :, 2:]], dim=1)
    with_fault = {
        "reshaped_to_the_final_shape": x.reshape(2, 2, 3, 2),
        "fences_with_the_groups_first": x.reshape(2, 2, 3, 2).transpose(0, 1),
        "every_second_feature": torch.stack([x[:, :, 0::2], x[:, :, 1::2]], dim=1),
        "groups_in_reverse": right.flip(1),
        "positions_in_reverse": right.flip(2),
    }
    answer = name_the_wrong_move()
    assert_true(answer in with_fault, f"{answer!r} is not one of the five names.")
    for place, (name, shown) in enumerate(SHOWN_GROUPS.items()):
        assert_equal(with_fault[answer][place // 2, place % 2].tolist(), shown, what=name)


check(the_fault_makes_the_whole_table, name_the_wrong_move)

# %% [markdown]
# ## Part C. A model to question
#
# The next cell holds a small language model. It is trained when it is first asked, in about a second, on four
# hundred short stories of a generated language, and predicts the next word from the **last four words**: a
# table of embeddings, one hidden layer and a softmax, the model of lecture 05. You need not read the cell;
# only run it. What matters is what the model answers:
#
# `next_word_probs(words)` takes the words of a story so far and returns a dict: for each word of the language
# the probability that it comes next. `</s>` is the end of the story and counts as a word.

# %% provided="trained_model"
LANGUAGE = StoryLanguage(
    StoryConfig(n_bindings=2, n_recalls=1, nesting_depth=0, agreement_distance=1, lexicon=Lexicon().first(3))
)
WORDS, BOS = LANGUAGE.vocabulary.words, LANGUAGE.vocabulary.bos
N_WINDOW = 4


def logits_after(windows, E, W, b, U, c):
    """Logits of the next word for windows (B, 4): one hidden layer over the embedded words."""
    return torch.tanh(E[windows].flatten(start_dim=1) @ W.T + b) @ U.T + c


@cache
def trained_weights(seed=3, n_steps=150, d_embedding=8, d_hidden=24):
    """E, W, b, U, c after full-batch training on the windows of 400 stories; trains when first asked."""
    draw = Draw(seed)
    stories = LANGUAGE.sample(400, torch.Generator().manual_seed(1))
    padded = functional.pad(stories.tokens, (N_WINDOW - 1, 0), value=BOS)
    windows = padded.unfold(1, N_WINDOW + 1, 1)[stories.mask[:, 1:]]  # (M, 5): four words and the next
    windows, counts = torch.unique(windows, dim=0, return_counts=True)
    shares = counts.double() / counts.sum()
    weights = [
        draw.normal(len(WORDS), d_embedding),
        draw.normal(d_hidden, N_WINDOW * d_embedding) / 8,
        torch.zeros(d_hidden, dtype=torch.float64),
        draw.normal(len(WORDS), d_hidden) / 10,
        torch.zeros(len(WORDS), dtype=torch.float64),
    ]
    speeds = [torch.zeros_like(weight) for weight in weights]
    for _ in range(n_steps):
        own = [weight.requires_grad_() for weight in weights]
        logits = logits_after(windows[:, :-1], *own)
        loss = (shares * functional.cross_entropy(logits, windows[:, -1], reduction="none")).sum()
        gradients = torch.autograd.grad(loss, own)
        speeds = [0.9 * speed + grad for speed, grad in zip(speeds, gradients, strict=True)]
        weights = [weight.detach() - 3 * speed for weight, speed in zip(own, speeds, strict=True)]
    return weights


def next_word_probs(words):
    """The model's probability of each word, given the words of the story so far."""
    tokens = [BOS] * N_WINDOW + LANGUAGE.vocabulary.encode(words)
    probs = logits_after(torch.tensor([tokens[-N_WINDOW:]]), *trained_weights()).softmax(-1)[0]
    return dict(zip(WORDS, probs.tolist(), strict=True))


def predictions_for(words):
    """One dict for each word of a story: the model's probabilities before it read that word."""
    return [next_word_probs(words[:t]) for t in range(len(words))]


STORY_TEXT = "anna had nuts and scarves . she ate nuts and wore scarves . </s>"
STORY = STORY_TEXT.split()


# %% [markdown]
# Ask it something. Which words can follow? Which cannot?

# %%
for t in (0, 1, 2, 7):
    ranked = sorted(next_word_probs(STORY[:t]).items(), key=lambda pair: -pair[1])[:4]
    print(f"{' '.join(STORY[:t]) or '(the beginning)':>32} →", ", ".join(f"{w} {p:.2f}" for w, p in ranked))

# %% [markdown] exercise="story_log_prob" difficulty=1 minutes=10
# ### 7. The probability of a story
#
# A model that predicts the next word gives every whole story a probability, by the chain rule:
#
# $$P(w_1 \dots w_n) = P(w_1) \cdot P(w_2 \mid w_1) \cdots P(w_n \mid w_1 \dots w_{n-1})$$
#
# The product of many small factors is too small for a float, so we add logarithms.
#
# Write `story_log_prob(predictions, words)`, the **natural logarithm** of the probability of the whole story,
# as a float. `words` is a list of n words, the last of which is `"</s>"`; it is predicted like any other.
# `predictions` is a list of n dicts: `predictions[t]` says what the model expected in the place of
# `words[t]`, before it read that word; it gives each word of the language a probability above 0.
#
# **Example.** The story `["hush", "</s>"]` with the predictions `{"hush": 0.25, "</s>": 0.75}` and
# `{"hush": 0.5, "</s>": 0.5}` has the probability 0.25 · 0.5 = 1/8, so the answer is −ln 8 ≈ −2.079.
#
# <details><summary>Hint 1</summary>
#
# For each t, look up one number in one dict. What do you do with the n numbers?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The logarithm of a product is the sum of the logarithms. Take each logarithm before there is a product.
#
# </details>


# %% solution="story_log_prob"
def story_log_prob(predictions: list[dict[str, float]], words: list[str]) -> float:
    """ln P(words), where predictions[t] are the model's probabilities in the place of words[t]."""
    ### BEGIN SOLUTION
    return sum(math.log(probs[word]) for probs, word in zip(predictions, words, strict=True))
    ### END SOLUTION


# %% check="the_example_costs_ln_8" points=1
def the_example_costs_ln_8(story_log_prob):
    """The story of the example has the log-probability -ln 8."""
    predictions = [{"hush": 0.25, "</s>": 0.75}, {"hush": 0.5, "</s>": 0.5}]
    assert_close(story_log_prob(predictions, ["hush", "</s>"]), -math.log(8))


check(the_example_costs_ln_8, story_log_prob)


# %% check="three_short_stories_share_0_44" points=1
def three_short_stories_share_0_44(story_log_prob):
    """Stopping at once with 0.2 and after a word with 0.3 makes 0.2 + 0.8 · 0.3 for three stories."""
    predictions = [{"a": 0.5, "b": 0.3, "</s>": 0.2}, {"a": 0.6, "b": 0.1, "</s>": 0.3}]
    stories = [["</s>"], ["a", "</s>"], ["b", "</s>"]]
    total = sum(math.exp(story_log_prob(predictions[: len(words)], words)) for words in stories)
    assert_close(total, 0.2 + 0.8 * 0.3, what="the sum of the three probabilities")


check(three_short_stories_share_0_44, story_log_prob)


# %% check="a_very_long_story_is_no_trouble" points=1
def a_very_long_story_is_no_trouble(story_log_prob):
    """400 words of probability 1/10 have the log-probability -400 ln 10, though 0.1 ** 400 is 0."""
    predictions, words = [{"la": 0.1, "</s>": 0.9}] * 399 + [{"la": 0.9, "</s>": 0.1}], ["la"] * 399
    assert_close(story_log_prob(predictions, [*words, "</s>"]), -400 * math.log(10))


check(a_very_long_story_is_no_trouble, story_log_prob)


# %% check="the_model_prefers_what_it_has_read" points=1
def the_model_prefers_what_it_has_read(story_log_prob):
    """For the trained model, a story is far likelier than with its first sentence read backwards."""
    answers = []
    for words in (STORY, [*STORY[4::-1], *STORY[5:]]):
        predictions, places = predictions_for(words), torch.tensor(LANGUAGE.vocabulary.encode(words))
        log_probs = torch.tensor([list(probs.values()) for probs in predictions], dtype=torch.float64).log()
        expected = -functional.nll_loss(log_probs, places, reduction="sum").item()
        answers.append(story_log_prob(predictions, words))
        assert_close(answers[-1], expected, what=f"the log-probability of: {' '.join(words)}")
    assert_true(answers[0] > answers[1] + 10, f"The two stories have {answers[0]} and {answers[1]} nats.")


check(the_model_prefers_what_it_has_read, story_log_prob)


# %% check="other_stories_have_their_log_prob" points=2 hidden
def other_stories_have_their_log_prob(story_log_prob, draw):
    """Other stories, with other predictions, have their log-probability."""
    names = ["ox", "owl", "elk", "</s>"]
    for n in (3, 7, 900):
        rows = draw.probabilities(n, 4)
        places = draw.integers(0, 3, n)
        places[-1] = 3
        predictions = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
        words = [names[place] for place in places.tolist()]
        assert_close(story_log_prob(predictions, words), rows.log()[torch.arange(n), places].sum().item())


check(other_stories_have_their_log_prob, story_log_prob)

# %% [markdown] exercise="top_words" difficulty=1 minutes=10
# ### 8. What would it say next?
#
# Write `top_words(probs, k)`: the `k` most probable words, the most probable first, as a list. `probs` is a
# dict from words to probabilities with at least `k` words. Words of equal probability come in alphabetical
# order, so that the answer is always the same.
#
# **Example.** `top_words({"b": 0.3, "c": 0.1, "a": 0.3, "d": 0.3}, 2)` is `["a", "b"]`.
#
# <details><summary>Hint 1</summary>
#
# `sorted(probs, key=…)` sorts the words by whatever the key says, the smallest first. Which key is smallest
# for the most probable word?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Tuples are compared entry by entry: the second entry decides where the first ones are equal.
#
# </details>


# %% solution="top_words"
def top_words(probs: dict[str, float], k: int) -> list[str]:
    """The k most probable words, most probable first; equal ones in alphabetical order."""
    ### BEGIN SOLUTION
    return sorted(probs, key=lambda word: (-probs[word], word))[:k]
    ### END SOLUTION


# %% check="the_example_gives_a_and_b" points=1
def the_example_gives_a_and_b(top_words):
    """The two most probable words of the example are a and b, in this order."""
    assert_equal(top_words({"b": 0.3, "c": 0.1, "a": 0.3, "d": 0.3}, 2), ["a", "b"])


check(the_example_gives_a_and_b, top_words)


# %% check="the_most_probable_word_comes_first" points=1
def the_most_probable_word_comes_first(top_words):
    """Of probabilities 0.2, 0.5 and 0.3 the words of 0.5 and 0.3 come out, in this order."""
    assert_equal(top_words({"ant": 0.2, "bee": 0.5, "cow": 0.3}, 2), ["bee", "cow"])


check(the_most_probable_word_comes_first, top_words)


# %% check="the_model_names_a_person_first" points=1
def the_model_names_a_person_first(top_words):
    """Of the trained model's 6 likeliest first words all are names, and `had` is the likeliest second."""
    people = {"nora", "anna", "clara", "ben", "hugo", "omar"}
    answer = top_words(next_word_probs([]), 6)
    assert_equal(sorted(answer), sorted(people), what="the six likeliest first words")
    assert_equal(top_words(next_word_probs(["anna"]), 1), ["had"], what="the likeliest word after anna")


check(the_model_names_a_person_first, top_words)


# %% check="other_words_come_by_probability" points=2 hidden
def other_words_come_by_probability(top_words, draw):
    """Other words, some equally probable, come out in their order."""
    assert_equal(top_words({"yew": 0.2, "ash": 0.2, "oak": 0.5, "elm": 0.1}, 3), ["oak", "ash", "yew"])
    names = ["elm", "oak", "fir", "ash", "yew", "bay", "fig"]
    for k in (1, 3, 5):
        order = [names[place] for place in draw.permutation(7)]
        probs = dict(zip(order, [0.1, 0.3, 0.1, 0.05, 0.25, 0.1, 0.1], strict=True))
        ties = sorted(word for word, prob in probs.items() if prob == 0.1)
        assert_equal(top_words(probs, k), [order[1], order[4], *ties, order[3]][:k])


check(other_words_come_by_probability, top_words)

# %% [markdown]
# With both functions you can let the model go on by itself, always with its likeliest word, and ask how
# probable it finds the result. Change the beginning and run the cell again.

# %%
story = ["nora", "had"]
while story[-1] != "</s>" and len(story) < 40:
    story += top_words(next_word_probs(story), 1)
print(" ".join(story))
print(f"log-probability {story_log_prob(predictions_for(story), story):.2f} nats, {len(story)} words")

# %% [markdown]
# And here is a cell for questions of your own. You will want it for the last exercise.

# %%
beginning = "nora had nuts and"
probs = next_word_probs(beginning.split())
print({word: round(probs[word], 3) for word in top_words(probs, 5)})

# %% [markdown] written="what_four_words_cannot_know" points=4 minutes=15
# ### 9. What four words cannot know
#
# In this language a story begins with what somebody has ("anna had nuts and scarves ."), and what is eaten,
# worn or printed later is always one of these things. The model sees the last four words only.
#
# a) Give two beginnings of stories, different in exactly one word, after which the true language predicts
# different words, but this model must give exactly the same answer. Ask the model about both and quote what
# `next_word_probs` says.
#
# b) The longer a story, the smaller its probability. Does that mean that the model finds long stories bad?
# Say what you would compare instead, if you had to choose which of two stories of different length suits the
# model better.
#
# c) "The model knows that people eat apples and not gloves." Name one thing you could measure with
# `next_word_probs` that speaks for this sentence and one thing that it does not show.
#
# ### BEGIN SOLUTION
# a) (2 points: one for the beginnings, one for the measured numbers.) The differing word must lie more than
# four words back, for instance "anna had nuts and scarves . she ate" and "anna had apples and scarves . she
# ate": the last four words are "scarves . she ate" in both, so the two dicts are equal, while the language
# continues with nuts in the one and with apples in the other.
#
# b) (1 point) No: every word multiplies by a number below 1, so the total falls with the length whatever the
# story is. Compare the average log-probability per word (or perplexity); `</s>` counts as a word.
#
# c) (1 point) For: after "she ate", the probabilities of apples, nuts and plums are large and those of gloves
# and boots near 0, also in contexts that did not occur in training. Not shown: anything beyond which words
# follow which. The model has no apples; "eat" could be any sign with the same neighbours. Any clear
# distinction between predicting words and knowing what they stand for has the point.
# ### END SOLUTION
