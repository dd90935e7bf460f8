"""What goes wrong with heads: how they are cut and put together."""

from autograder.catalogue import misconception

# 10. split_heads

VIEWED = "https://github.com/harvardnlp/annotated-transformer/issues/118"


@misconception(of="split_heads", seen=VIEWED)
def viewed_without_transposing(x, n_heads):
    """The tensor is viewed as (B, H, T, d_k) at once, which mixes positions and heads.

    In the example, your head 0 begins with the numbers 1, 2, 3, 4. Which of them belong to the first
    position? Does `view` know which axis is which?
    """
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


@misconception(of="split_heads")
def heads_left_behind_the_positions(x, n_heads):
    """The axis of heads stays behind that of the positions: (B, T, H, d_k).

    Which two axes will attention multiply, and which stand in front as if they were batches?
    """
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads)


@misconception(of="split_heads")
def heads_interleaved(x, n_heads):
    """Each head gets every H-th number of a vector instead of d_k numbers in a row.

    In the example, which numbers does your head 0 see of the first vector? Into which two axes did you cut D,
    and in which order?
    """
    B, T, D = x.shape
    return x.reshape(B, T, D // n_heads, n_heads).permute(0, 3, 1, 2)


@misconception(of="split_heads")
def number_and_width_of_heads_exchanged(x, n_heads):
    """There are d_k heads of width H, where H heads of width d_k are asked for.

    Vectors of 12 numbers and two heads: how wide is a head?
    """
    B, T, D = x.shape
    return x.reshape(B, T, D // n_heads, n_heads).transpose(1, 2)


@misconception(of="split_heads")
def always_three_heads(x, n_heads):
    """The number of heads is written into the code: there are always three.

    Which line of your code reads `n_heads`?
    """
    B, T, _ = x.shape
    return x.reshape(B, T, 3, -1).transpose(1, 2)


# 11. merge_heads

MERGED = "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/177"


@misconception(of="merge_heads", seen=MERGED)
def merged_without_transposing(x):
    """The heads are viewed as (B, T, D) without making them adjacent first, which mixes positions.

    In the example, your first vector begins with 1, 2, 7, 8. From how many positions do these numbers come?
    """
    B, H, T, d_k = x.shape
    return x.reshape(B, T, H * d_k)


@misconception(of="merge_heads")
def numbers_of_heads_interleaved(x):
    """The first number of every head comes first, then the second of every head.

    Which of the six numbers of a vector should head 0 give back? Compare with the example.
    """
    return x.permute(0, 2, 3, 1).flatten(2)


@misconception(of="merge_heads")
def heads_averaged(x):
    """The heads are averaged, not put side by side, so the vectors are too short.

    How many numbers should a vector have for three heads of two?
    """
    return x.mean(1)
