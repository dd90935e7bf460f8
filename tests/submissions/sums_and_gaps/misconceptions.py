"""What goes wrong with sums and gaps."""

from autograder.catalogue import misconception


@misconception(of="mean_of")
def sum_of(values):
    """The sum is returned undivided.

    How large is the mean of seven ones?
    """
    return sum(values)


@misconception(of="largest_gap")
def first_gap(values):
    """Only the first two values are compared.

    Where in the list may the largest gap be?
    """
    return values[1] - values[0]
