"""What goes wrong in a norm without the mean: roots, means, and what is left out."""

import torch

from autograder.catalogue import misconception

# 24. rms_norm


def _wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


@misconception(of="rms_norm")
def squares_in_half_precision(x, gain, epsilon):
    """The squares are taken in the precision in which x comes, and in float16 they overflow.

    What is the largest number of float16, and what the square of 300? What is 300 / ∞?
    """
    return gain * x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + epsilon)


@misconception(of="rms_norm", seen="https://github.com/stanford-cs336/assignment1-basics/issues/93")
def divided_by_the_standard_deviation(x, gain, epsilon):
    """The standard deviation is taken, which subtracts the mean first.

    What is the standard deviation of (2, 2, 2), and what its root mean square?
    """
    x = _wide(x)
    return gain * x / torch.sqrt(x.var(dim=-1, keepdim=True, correction=0) + epsilon)


@misconception(of="rms_norm")
def mean_subtracted_as_well(x, gain, epsilon):
    """The mean is subtracted, as in a layer norm.

    What should become of a vector of equal numbers, and what does with yours?
    """
    x = _wide(x)
    centred = x - x.mean(-1, keepdim=True)
    return gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + epsilon)


@misconception(of="rms_norm")
def divided_by_the_length(x, gain, epsilon):
    """The squares are summed, not averaged, so vectors get length 1 and small numbers.

    In the example, do you divide by 2.5 or by 5?
    """
    x = _wide(x)
    return gain * x / torch.sqrt(x.square().sum(-1, keepdim=True) + epsilon)


@misconception(of="rms_norm", seen="https://github.com/codertimo/BERT-pytorch/issues/30")
def epsilon_after_the_root(x, gain, epsilon):
    """ε is added to the root, where it belongs under it.

    By which number do you divide (0.01, -0.01) if ε is 0.0003?
    """
    x = _wide(x)
    return gain * x / (x.square().mean(-1, keepdim=True).sqrt() + epsilon)


@misconception(of="rms_norm")
def one_size_for_all_vectors(x, gain, epsilon):
    """The squares of all vectors together are averaged, so small vectors stay small beside large ones.

    Along which axis lie the numbers of one vector?
    """
    x = _wide(x)
    return gain * x / torch.sqrt(x.square().mean() + epsilon)


@misconception(of="rms_norm")
def root_not_taken(x, gain, epsilon):
    """The vectors are divided by the mean square, without the root.

    In the example, do you divide by 6.25 or by 2.5?
    """
    x = _wide(x)
    return gain * x / (x.square().mean(-1, keepdim=True) + epsilon)


@misconception(of="rms_norm")
def gain_not_used(x, gain, epsilon):
    """The gain is not used.

    Double the gain. Does your output change?
    """
    x = _wide(x)
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + epsilon)


@misconception(of="rms_norm")
def epsilon_not_used(x, gain, epsilon):
    """ε is not used, so a vector of zeros is divided by 0.

    What is 0 / 0 for Python, and what should become of a vector of zeros?
    """
    x = _wide(x)
    return gain * x / torch.sqrt(x.square().mean(-1, keepdim=True))


@misconception(of="rms_norm")
def mean_of_absolute_values(x, gain, epsilon):
    """The absolute values are averaged, not the squares.

    What is the mean of |x| in the example, and what the root of the mean of the squares?
    """
    x = _wide(x)
    return gain * x / (x.abs().mean(-1, keepdim=True) + epsilon)


@misconception(of="rms_norm")
def divided_by_the_std_of_torch(x, gain, epsilon):
    """The standard deviation of torch is taken, which subtracts the mean and divides by D - 1.

    What is `x.std()` for (2, 2, 2), and what its root mean square?
    """
    x = _wide(x)
    return gain * x / (x.std(-1, keepdim=True) + epsilon)


@misconception(of="rms_norm")
def mean_squared(x, gain, epsilon):
    """The mean is squared, where the squares are to be averaged.

    In the example the mean is 1.75. What is its square, and what is the mean of 9, 16, 0 and 0?
    """
    x = _wide(x)
    return gain * x / torch.sqrt(x.mean(-1, keepdim=True).square() + epsilon)
