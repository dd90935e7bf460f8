# %% [markdown]
# ## Part B. Axes
#
# Most errors in this course will be a number in the wrong place of a tensor of the right shape. The cure is to
# know what each axis stands for, and to try code on sizes that are all different.

# %% [markdown] exercise="split_groups" difficulty=2 minutes=10 exempt="gradient"
# ### 2. Split an axis
#
# Attention (lecture 13) cuts the D features of every position into H groups of d_k = D / H neighbours. Write
# `split_groups(x, n_groups)`: `x` is (B, T, D), H is `n_groups`, and the result is (B, H, T, d_k), where
# `result[b, h, t]` holds the features h·d_k, …, (h + 1)·d_k − 1 of `x[b, t]`.
#
# **Example.** One sequence of three positions with eight features; tens say the position, units the feature:
#
# `x = [[[0, 1, 2, 3, 4, 5, 6, 7], [10, 11, 12, 13, 14, 15, 16, 17], [20, 21, 22, 23, 24, 25, 26, 27]]]`
#
# In two groups, group 0 is `[[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]` and group 1 is
# `[[4, 5, 6, 7], [14, 15, 16, 17], [24, 25, 26, 27]]`: the shape is (1, 2, 3, 4).
#
# <details><summary>Hint 1</summary>
#
# `reshape` never moves a number: it reads the numbers in order and only draws new boundaries between the axes.
# Splitting the last axis in two adds one boundary. What shape has exactly that one more?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Now the axes are (B, T, H, d_k), and the groups have to come before time. That moves numbers; which function
# exchanges two axes?
#
# </details>


# %% solution="split_groups"
def split_groups(x: Tensor, n_groups: int) -> Tensor:
    """The features of (B, T, D) cut into groups of neighbours: (B, H, T, d_k)."""
    ### BEGIN SOLUTION
    B, T, D = x.shape
    return x.reshape(B, T, n_groups, D // n_groups).transpose(1, 2)  # (B, H, T, d_k)
    ### END SOLUTION


# %% check="the_example_is_split_in_two" points=1
def the_example_is_split_in_two(split_groups):
    """The example has the features 0 to 3 of every position in group 0 and 4 to 7 in group 1."""
    answer = split_groups(torch.tensor([[[*range(8)], [*range(10, 18)], [*range(20, 28)]]]).double(), 2)
    group_0 = [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    group_1 = [[4, 5, 6, 7], [14, 15, 16, 17], [24, 25, 26, 27]]
    assert_close(answer, torch.tensor([[group_0, group_1]]).double())


# %% check="the_groups_come_before_time" points=1
def the_groups_come_before_time(split_groups):
    """Four sequences of 5 positions with 6 features, in 3 groups, have the shape (4, 3, 5, 2)."""
    answer = split_groups(torch.arange(120).reshape(4, 5, 6), 3)
    assert_equal(list(answer.shape), [4, 3, 5, 2], what="the shape")


# %% check="a_group_is_a_run_of_neighbours" points=1
def a_group_is_a_run_of_neighbours(split_groups):
    """When every feature holds its own number 0 … 5, group h holds 2h and 2h + 1 at all positions."""
    numbers = torch.arange(6, dtype=torch.float64)
    answer = split_groups(numbers.expand(4, 5, 6), 3)
    assert_close(answer, numbers.reshape(1, 3, 1, 2).expand(4, 3, 5, 2))


# %% check="no_sequence_meets_another" points=1
def no_sequence_meets_another(split_groups):
    """When every number is that of its sequence, so it is in every group."""
    numbers = torch.arange(4, dtype=torch.float64)
    answer = split_groups(numbers[:, None, None].expand(4, 5, 6), 3)
    assert_close(answer, numbers[:, None, None, None].expand(4, 3, 5, 2))


# %% check="other_sizes_are_split" points=2 hidden
def other_sizes_are_split(split_groups, draw):
    """Other sizes are split into their groups."""
    for B, T, n_groups, width in ((3, 7, 2, 5), (5, 2, 4, 3)):
        x = draw.normal(B, T, n_groups * width)
        pieces = [x[:, :, h * width : (h + 1) * width] for h in range(n_groups)]
        assert_close(split_groups(x, n_groups), torch.stack(pieces, dim=1))


# %% [markdown] exercise="merge_groups" difficulty=2 minutes=8 exempt="gradient"
# ### 3. And put it together again
#
# Write `merge_groups(x)`, which undoes the last exercise: `x` is (B, H, T, d_k), the result (B, T, D) with
# D = H · d_k, and `result[b, t]` holds the d_k numbers of group 0 at position t, then those of group 1, and so on.
#
# **Example.** The two groups of the last example become its `x` again: position 0 has the features 0 to 7.
#
# <details><summary>Hint 1</summary>
#
# You can merge two axes only if their numbers are adjacent in memory. In (B, H, T, d_k), what comes after the
# d_k numbers of group 0 at position 0?
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
    """The groups of (B, H, T, d_k) side by side again: (B, T, H·d_k)."""
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(start_dim=2)  # (B, T, H, d_k) → (B, T, D)
    ### END SOLUTION


# %% check="the_example_is_whole_again" points=1
def the_example_is_whole_again(merge_groups):
    """The example has the features 0 to 7 at position 0; with 100 more and groups exchanged, 104 comes first."""
    group_0 = [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    group_1 = [[4, 5, 6, 7], [14, 15, 16, 17], [24, 25, 26, 27]]
    groups = torch.tensor([group_0, group_1]).double()
    rows = torch.tensor([[*range(8)], [*range(10, 18)], [*range(20, 28)]]).double()
    answer = merge_groups(torch.stack([groups, 100 + groups.flip(0)]))
    expected = torch.stack([rows, 100 + rows.roll(4, dims=-1)])
    assert_close(answer, expected)
    turned = merge_groups(torch.stack([100 + groups.flip(0), groups]))
    assert_close(turned, expected.flip(0), what="the sequences in the other order")


# %% check="group_follows_group" points=1
def group_follows_group(merge_groups):
    """When every number is that of its group, each position holds 0, 0, 1, 1, 2, 2."""
    answer = merge_groups(torch.arange(3, dtype=torch.float64)[:, None, None].expand(4, 3, 5, 2))
    assert_close(answer, torch.tensor([0.0, 0.0, 1.0, 1.0, 2.0, 2.0], dtype=torch.float64).expand(4, 5, 6))


# %% check="other_groups_are_merged" points=2 hidden
def other_groups_are_merged(merge_groups, draw):
    """Other sizes are put together."""
    for shape in ((3, 2, 7, 5), (5, 4, 2, 3)):
        x = draw.normal(*shape)
        assert_close(merge_groups(x), torch.cat(x.unbind(dim=1), dim=-1))


# %% [markdown] exercise="add_per_position" difficulty=1 minutes=8 exempt="gradient"
# ### 4. Broadcasting
#
# To add tensors of different shapes, torch lines up their **last** axes and repeats axes of length 1. That is
# convenient, and it is how a tensor gets added along the wrong axis without a word.
#
# Write `add_per_position(x, offsets)`: `x` is (B, T, D), `offsets` is (T,). The result, (B, T, D), is `x`
# with `offsets[t]` added to all features at position t of every sequence. `x` must be left as it is.
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
    answer = add_per_position(x, torch.tensor([30.0, 40.0], dtype=torch.float64))
    assert_close(answer, expected + 20, what="with the offsets 30 and 40")


# %% check="equal_sizes_change_nothing" points=1
def equal_sizes_change_nothing(add_per_position):
    """Three positions, three features, three sequences: the offset still goes by position."""
    offsets = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    expected = torch.tensor([[1.0] * 3, [2.0] * 3, [3.0] * 3], dtype=torch.float64)
    x = torch.tensor([0.0, 10.0, 20.0], dtype=torch.float64)[:, None, None].expand(3, 3, 3)
    assert_close(add_per_position(x, offsets), x + expected)


# %% check="what_was_given_stays_as_it_was" points=1
def what_was_given_stays_as_it_was(add_per_position, draw):
    """After the call, x and the offsets are what they were, and the result has the shape of x."""
    x, offsets = draw.normal(2, 5, 3), draw.normal(5)
    answer = add_per_position(x, offsets)
    assert_equal(list(torch.as_tensor(answer).shape), [2, 5, 3], what="the shape of the result")


# %% check="other_offsets_go_by_position" points=2 hidden
def other_offsets_go_by_position(add_per_position, draw):
    """Other sizes, equal ones among them, get each offset at its position."""
    for shape in ((2, 5, 3), (4, 4, 7), (3, 6, 6), (5, 5, 5)):
        x, offsets = draw.normal(*shape), draw.normal(shape[1])
        expected = x.clone()
        for t in range(shape[1]):
            expected[:, t] += offsets[t]
        assert_close(add_per_position(x, offsets), expected)


# %% [markdown] exercise="real_lengths" difficulty=1 minutes=8
# ### 5. How long is each sequence?
#
# Sequences of different lengths share a tensor, the shorter ones filled up with a padding token. Write
# `real_lengths(tokens, pad)`: `tokens` is (B, T) int64, and the result, (B,) int64, says how many tokens of
# each sequence are not `pad`. `tokens` must be left as it is.
#
# **Example.** With `pad = 0`, `[[7, 3, 0, 0], [5, 9, 2, 6], [4, 8, 5, 0]]` has the lengths `[2, 4, 3]`. Where
# `pad` is another number, 0 is a token like any other.
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
    assert_equal(real_lengths(tokens.flip(0), 0), torch.tensor([3, 4, 2]), what="the rows in the other order")


# %% check="another_number_may_be_the_padding" points=1
def another_number_may_be_the_padding(real_lengths):
    """When `pad` is 9 and 0 is a token like any other, three rows have the lengths 2, 5 and 1."""
    tokens = torch.tensor([[0, 0, 9, 9, 9], [5, 0, 2, 5, 3], [4, 9, 9, 9, 9]])
    assert_equal(real_lengths(tokens, 9), torch.tensor([2, 5, 1]))


# %% check="the_tokens_stay_as_they_were" points=1
def the_tokens_stay_as_they_were(real_lengths):
    """After the call the tokens are what they were before, here with lengths 3, 5 and 2."""
    tokens = torch.tensor([[7, 3, 6, 8, 8], [5, 4, 2, 6, 9], [4, 7, 8, 8, 8]])
    assert_equal(real_lengths(tokens, 8), torch.tensor([3, 5, 2]))


# %% check="other_sequences_have_their_lengths" points=2 hidden
def other_sequences_have_their_lengths(real_lengths, draw):
    """Other sequences, full and nearly empty ones, have their lengths."""
    for pad, n_rows, longest in ((0, 4, 7), (11, 6, 5)):
        lengths = torch.cat([torch.tensor([longest, 1, 2]), draw.integers(1, longest + 1, n_rows - 3)])
        tokens = draw.integers(1, 11, n_rows, longest)
        tokens[torch.arange(longest) >= lengths[:, None]] = pad
        assert_equal(real_lengths(tokens, pad), lengths)


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
# Somebody else's `split_groups(x, 2)` was called with `x = torch.arange(24).reshape(2, 3, 4)`. The cell above
# shows what came back: it has the right shape, (2, 2, 3, 2), and exactly one thing is wrong. Write
# `name_the_wrong_move()`, which takes nothing and returns the name of the fault:
#
# | name | what the function would do |
# |---|---|
# | `"reshaped_to_the_final_shape"` | only draw new boundaries: (B, H, T, d_k) at once |
# | `"read_with_the_groups_first"` | read the numbers as (H, B, T, d_k) and exchange the first two axes |
# | `"every_second_feature"` | cut into (B, T, d_k, H): neighbours go to different groups |
# | `"groups_in_reverse"` | split rightly, with the last group first |
# | `"positions_in_reverse"` | split rightly, with the last position first |
#
# **Example of the reasoning.** Rightly split, group 0 of sequence 0 is `[[0, 1], [4, 5], [8, 9]]`. With the
# positions in reverse it would be `[[8, 9], [4, 5], [0, 1]]`, so that is not the fault.
#
# The visible check looks only at the beginning of the table, where more than one fault looks like this.
#
# <details><summary>Hint 1</summary>
#
# Write down the twelve numbers of sequence 0 of `x`. Are these the numbers of sequence 0 in the table?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two of the faults only draw boundaries. Write the numbers 0 … 23 in a row and draw the boundaries of each.
#
# </details>


# %% solution="name_the_wrong_move"
def name_the_wrong_move() -> str:
    """The name of the one fault that makes the table."""
    ### BEGIN SOLUTION
    return "read_with_the_groups_first"
    ### END SOLUTION


# %% check="the_fault_begins_with_0_1_2_3" points=1
def the_fault_begins_with_0_1_2_3(name_the_wrong_move):
    """The answer is one of the five names, and with that fault the table begins with 0, 1 and 2, 3."""
    first_group = {
        "reshaped_to_the_final_shape": [[0, 1], [2, 3], [4, 5]],
        "read_with_the_groups_first": [[0, 1], [2, 3], [4, 5]],
        "every_second_feature": [[0, 2], [4, 6], [8, 10]],
        "groups_in_reverse": [[2, 3], [6, 7], [10, 11]],
        "positions_in_reverse": [[8, 9], [4, 5], [0, 1]],
    }
    answer = name_the_wrong_move()
    assert_true(answer in first_group, say("{answer} is not one of the five names.", answer=repr(answer)))
    assert_equal(first_group[answer], [[0, 1], [2, 3], [4, 5]], what="the first group with that fault")


# %% check="the_fault_makes_the_whole_table" points=2 hidden
def the_fault_makes_the_whole_table(name_the_wrong_move):
    """The fault you name makes the whole table."""
    x = torch.arange(24).reshape(2, 3, 4)
    right = torch.stack([x[:, :, :2], x[:, :, 2:]], dim=1)
    with_fault = {
        "reshaped_to_the_final_shape": x.reshape(2, 2, 3, 2),
        "read_with_the_groups_first": x.reshape(2, 2, 3, 2).transpose(0, 1),
        "every_second_feature": torch.stack([x[:, :, 0::2], x[:, :, 1::2]], dim=1),
        "groups_in_reverse": right.flip(1),
        "positions_in_reverse": right.flip(2),
    }
    answer = name_the_wrong_move()
    assert_true(answer in with_fault, say("{answer} is not one of the five names.", answer=repr(answer)))
    for place, (name, shown) in enumerate(SHOWN_GROUPS.items()):
        assert_equal(with_fault[answer][place // 2, place % 2].tolist(), shown, what=name)
