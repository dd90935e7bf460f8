"""What goes wrong in part B of homework 0: numbers at a wrong place."""

import torch

from autograder.catalogue import misconception

# 2. split_groups


@misconception(of="split_groups", seen="https://github.com/HHTseng/video-classification/issues/42")
def reshaped_to_the_final_shape(x, n_groups):
    """One reshape goes straight to the final shape, so positions are cut up and mixed among the groups.

    Write the 24 numbers of the example in a row. Which twelve does your reshape put into group 0, and which
    positions of the sequence do they come from?
    """
    B, T, D = x.shape
    return x.reshape(B, n_groups, T, D // n_groups)


@misconception(of="split_groups")
def features_dealt_out(x, n_groups):
    """Neighbouring features are dealt out to different groups, like cards.

    In the example, does group 0 hold 0, 1, 2, 3 or 0, 2, 4, 6? When the last axis is cut in two, which of the
    new axes runs faster?
    """
    B, T, D = x.shape
    return x.reshape(B, T, D // n_groups, n_groups).permute(0, 3, 1, 2)


@misconception(of="split_groups")
def groups_behind_time(x, n_groups):
    """The last axis is cut rightly, but the groups stay behind time: (B, T, H, d_k).

    Which axis should come second? What does `result[0, 1]` hold, a group or a position?
    """
    B, T, D = x.shape
    return x.reshape(B, T, n_groups, D // n_groups)


@misconception(of="split_groups", seen="https://github.com/galsang/BiDAF-pytorch/issues/17")
def sequences_mixed(x, n_groups):
    """The numbers are read with the groups first, so that parts of different sequences come together.

    When all numbers of sequence 0 are 0 and those of sequence 1 are 1, which numbers does your result have in
    sequence 0? Which axis of x is outermost?
    """
    B, T, D = x.shape
    return x.reshape(n_groups, B, T, D // n_groups).transpose(0, 1)


@misconception(
    of="split_groups",
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def as_many_features_as_groups(x, n_groups):
    """The number of groups is taken for the width of a group.

    With 8 features in 2 groups, how many features has each group? Does `split` ask for the number of pieces
    or for the length of each?
    """
    return torch.stack(x.split(n_groups, dim=-1), dim=1)


# 3. merge_groups


@misconception(of="merge_groups", seen="https://github.com/timbmg/Sentence-VAE/issues/15")
def merged_without_exchanging_axes(x):
    """The groups are reshaped away without moving time in front of them: positions get mixed.

    In (B, H, T, d_k), which number stands right behind the last of group 0 at position 0? Should it be its
    neighbour in the result?
    """
    B, H, T, d_k = x.shape
    return x.reshape(B, T, H * d_k)


@misconception(of="merge_groups")
def groups_interleaved(x):
    """The features of the groups alternate instead of following group by group.

    In the example, what are the first two numbers of position 0: two of one group, or one of each?
    """
    return x.permute(0, 2, 3, 1).flatten(start_dim=2)


@misconception(of="merge_groups")
def groups_added_up(x):
    """The groups are added to each other instead of standing side by side.

    How many features does a position have in the result? How many numbers went in, and how many came out?
    """
    return x.sum(dim=1)


@misconception(of="merge_groups")
def last_axes_not_joined(x):
    """The axes are in the right order, (B, T, H, d_k), but the last two are still two.

    How many axes has your result, and how many should it have? What is left to do once H and d_k are
    neighbours?
    """
    return x.transpose(1, 2)


# 4. add_per_position


@misconception(
    of="add_per_position",
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def added_along_the_features(x, offsets):
    """The offsets meet the last axis, the features: it runs only where T = D, and is wrong there.

    Write (B, T, D) and (T,) under each other, aligned at the right. Which axis does T stand under?
    """
    return x + offsets


@misconception(of="add_per_position")
def added_in_place(x, offsets):
    """The offsets are written into x itself, which the caller still needs.

    Print x before and after a call. Which operators of torch change what stands at their left?
    """
    x += offsets[:, None]
    return x


@misconception(of="add_per_position")
def added_along_the_batch(x, offsets):
    """The offsets meet the first axis, the sequences: one new axis too many stands behind them.

    Write (B, T, D) and the shape of what you add under each other, aligned at the right. Which axis does T
    stand under?
    """
    return x + offsets[:, None, None]


@misconception(of="add_per_position", seen="https://github.com/srush/Tensor-Puzzles/pull/27")
def one_axis_too_many(x, offsets):
    """The numbers are right, but the result has a fourth axis of length 1 in front.

    Print the shapes of x and of your result. Where did an axis come in that x does not have?
    """
    return x[None] + offsets[:, None]


# 5. real_lengths


@misconception(of="real_lengths")
def zero_taken_for_padding(tokens, pad):
    """The tokens that are not 0 are counted, whatever `pad` is.

    Who decides which token is the padding? Does your function ever look at its second argument?
    """
    return (tokens != 0).sum(dim=1)


@misconception(of="real_lengths")
def lengths_as_real_numbers(tokens, pad):
    """The lengths are right, but they are floats: 2.0 instead of 2.

    Print the dtype of your result. From which step on are the numbers floats? What do True and False add up
    to without it?
    """
    return (tokens != pad).double().sum(dim=1)


@misconception(of="real_lengths")
def lengths_in_a_list(tokens, pad):
    """The lengths are right, but they are a list of Python and not a tensor.

    What does `type` say about your result? What could you call at the end, or what lets torch do the counting
    without a loop?
    """
    return (tokens != pad).sum(dim=1).tolist()


@misconception(of="real_lengths", seen="https://github.com/srush/Tensor-Puzzles/pull/27")
def lengths_in_a_column(tokens, pad):
    """The lengths are right, but stand in a column, (B, 1): in later sums they will broadcast to (B, B).

    What is the shape of (B, 1) minus (B,)? Print the shape of your result.
    """
    return (tokens != pad).sum(dim=1, keepdim=True)


@misconception(of="real_lengths")
def counted_down_the_batch(tokens, pad):
    """The sum runs down the batch, so there is one number for each position and not for each sequence.

    How many sequences does the example have, and how many numbers your result? Which axis disappears in
    `sum(dim=0)`?
    """
    return (tokens != pad).sum(dim=0)


@misconception(of="real_lengths")
def padding_counted(tokens, pad):
    """The padding is counted instead of the real tokens.

    In the example the second sequence has no padding. Is its length 0?
    """
    return (tokens == pad).sum(dim=1)


@misconception(of="real_lengths")
def place_of_the_first_padding(tokens, pad):
    """The place of the first padding token is returned, and a sequence without padding gets 0.

    What does `argmax` answer where all entries are equal? Which sequence of the example has no padding?
    """
    return (tokens == pad).int().argmax(dim=1)


@misconception(of="real_lengths")
def tokens_above_the_padding(tokens, pad):
    """Only tokens larger than `pad` are counted.

    With `pad = 9`, is 5 a real token? What must be true of a token that is no padding: to be larger, or to be
    another one?
    """
    return (tokens > pad).sum(dim=1)


@misconception(of="real_lengths")
def tokens_overwritten(tokens, pad):
    """The real tokens are overwritten with 1 in the caller's own tensor.

    Print `tokens` after a call. Whose tensor is it that you write into?
    """
    is_real = tokens != pad
    tokens[is_real] = 1
    tokens[~is_real] = 0
    return tokens.sum(dim=1)


# 6. name_the_wrong_move


@misconception(of="name_the_wrong_move")
def said_reshaped_to_the_final_shape():
    """The plain reshape is named, but it leaves every sequence its own twelve numbers.

    Is 12 a number of sequence 0 or of sequence 1 of x? Where does the table show it?
    """
    return "reshaped_to_the_final_shape"


@misconception(of="name_the_wrong_move")
def said_every_second_feature():
    """The cut into (T, d_k, H) is named, which would put 0 and 2 side by side.

    Which two numbers open the table?
    """
    return "every_second_feature"


@misconception(of="name_the_wrong_move")
def said_groups_in_reverse():
    """Groups in reverse are named, but then the table would begin with 2 and 3.

    Which features of position 0 belong to the last group?
    """
    return "groups_in_reverse"


@misconception(of="name_the_wrong_move")
def said_positions_in_reverse():
    """Positions in reverse are named, but then the table would begin with the last position, 8 and 9.

    At which position of x does 0 stand, and at which in the table?
    """
    return "positions_in_reverse"
