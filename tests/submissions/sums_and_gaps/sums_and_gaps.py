# A homework of two exercises, so that what breaks one can be seen to leave the other alone.

# %% [markdown]
# # Sums and gaps

# %% setup

# %% provided="imports"
from itertools import pairwise

from course.checks import assert_close

# %% [markdown] exercise="mean_of" difficulty=1 minutes=2
# ## 1. Mean
#
# The mean of a list of numbers: `[1, 2, 6]` has mean 3.


# %% solution="mean_of"
def mean_of(values: list[float]) -> float:
    """The sum of the values divided by how many there are."""
    ### BEGIN SOLUTION
    return sum(values) / len(values)
    ### END SOLUTION


# %% check="the_mean_of_the_example_is_three" points=1
def the_mean_of_the_example_is_three(mean_of):
    """[1, 2, 6] has mean 3."""
    assert_close(mean_of([1.0, 2.0, 6.0]), 3.0)


# %% check="means_are_right" points=1 hidden
def means_are_right(mean_of, draw):
    """Other lists have the right mean."""
    values = draw.normal(7).tolist()
    assert_close(mean_of(values), sum(values) / 7)


# %% [markdown] exercise="largest_gap" difficulty=1 minutes=3
# ## 2. Largest gap
#
# The largest difference between neighbours of a sorted list: `[1, 4, 5]` has a gap of 3.


# %% solution="largest_gap"
def largest_gap(values: list[float]) -> float:
    """The largest difference between a value and the one before it."""
    ### BEGIN SOLUTION
    return max(after - before for before, after in pairwise(values))
    ### END SOLUTION


# %% check="the_gap_of_the_example_is_three" points=1
def the_gap_of_the_example_is_three(largest_gap):
    """[1, 4, 5] has a gap of 3."""
    assert_close(largest_gap([1.0, 4.0, 5.0]), 3.0)


# %% check="gaps_are_right" points=1 hidden
def gaps_are_right(largest_gap, draw):
    """Other lists have the right gap."""
    values = sorted(draw.normal(9).tolist())
    assert_close(largest_gap(values), max(values[i + 1] - values[i] for i in range(8)))
