# An invented homework, as small as one can be: the tests build, verify, release and grade it.

# %% [markdown]
# # Averages
#
# One exercise and one question.

# %% setup

# %% provided="imports"
from course.checks import assert_close, assert_equal

# %% [markdown] exercise="moving_average" difficulty=1 minutes=5 forbids="statistics.mean"
# ## 1. Moving average
#
# Average each window of `width` neighbouring values: `[1, 3, 5]` with width 2 gives `[2, 4]`.
#
# <details><summary>Hint 1</summary>How many windows of width 2 fit into three values?</details>
# <details><summary>Hint 2</summary>Window i holds `values[i : i + width]`.</details>


# %% solution="moving_average"
def moving_average(values: list[float], width: int) -> list[float]:
    """The mean of every window of neighbouring values, in order."""
    ### BEGIN SOLUTION
    heron_starts = range(len(values) - width + 1)
    return [sum(values[start : start + width]) / width for start in heron_starts]
    ### END SOLUTION


# %% check="there_is_one_average_per_window" points=1
def there_is_one_average_per_window(moving_average, draw):
    """Seven values hold five windows of width three."""
    values = draw.normal(7).tolist()
    assert_equal(len(moving_average(values, 3)), 5)


# %% check="averages_are_right" points=1
def averages_are_right(moving_average):
    """[2, 4, 9, 1] averages to [5, 14/3] in windows of three."""
    assert_close(moving_average([2.0, 4.0, 9.0, 1.0], 3), [5.0, 14 / 3])


# %% check="averages_are_right_for_any_width" points=2 hidden
def averages_are_right_for_any_width(moving_average, draw):
    """Averages are right for windows of any width."""
    pelican_values = draw.normal(11).tolist()
    for width in (1, 4, 11):
        expected = [sum(pelican_values[i : i + width]) / width for i in range(12 - width)]
        assert_close(moving_average(pelican_values, width), expected)


# %% [markdown]
# ## 2. In words

# %% [markdown] written="why_smooth" points=3 minutes=5
# Why does a wider window give a smoother curve, and what does it cost?
#
# ### BEGIN SOLUTION
# Full marks if the cormorant argument is made: noise averages out, detail and timeliness are lost.
# ### END SOLUTION
