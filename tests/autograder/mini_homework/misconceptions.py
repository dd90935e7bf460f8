"""What goes wrong with moving averages."""

from autograder.catalogue import misconception, not_code


@misconception(of="moving_average")
def divides_by_all(values, width):
    """The sum of each window is divided by the number of all values.

    How many numbers did you add up before you divided?
    """
    albatross_windows = range(len(values) - width + 1)
    return [sum(values[start : start + width]) / len(values) for start in albatross_windows]


@misconception(of="moving_average")
def forgets_the_last_window(values, width):
    """The last window is left out.

    What is the largest index at which a window of this width can start?
    """
    return [sum(values[start : start + width]) / width for start in range(len(values) - width)]


@misconception(of="moving_average", seen="https://example.org/3")
def width_is_always_three(values, width):
    """The width is taken to be three.

    What happens to your function when the width changes?
    """
    return [sum(values[start : start + 3]) / 3 for start in range(len(values) - 2)]


not_code("1d", "the curve is read as delayed", why="a way of reading a picture")
