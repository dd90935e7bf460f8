"""What is said where the values are right and only their form is not."""

import pytest
import torch

from course.checks import describe_difference

X = torch.arange(15, dtype=torch.float64).reshape(3, 5)


@pytest.mark.parametrize(
    ("received", "expected", "said"),
    [
        ([*X], X, "a list where a tensor is expected; its values are right"),
        ([*X.T], X, "a list where a tensor is expected"),
        ([0.5, 10**400], X[0, :2], "a list where a tensor is expected"),
        ((X,), X, "a tuple where a tensor is expected; its only entry is right"),
        (torch.tensor([0.5]), 0.5, "a tensor of shape (1,) where a number is expected; its value is right"),
        (torch.tensor([0.5]), 0.7, "a tensor of shape (1,) where a number is expected"),
        (
            torch.tensor([True]),
            True,
            "a tensor of shape (1,) where a truth value is expected; its value is right",
        ),
    ],
)
def test_right_values_in_a_wrapping_are_called_right(received, expected, said):
    assert describe_difference(received, expected) == said


@pytest.mark.parametrize(("n_entries", "ends"), [(6, "'5'"), (7, "'3' and 3 more"), (20, "'11' and 16 more")])
def test_of_missing_names_all_are_listed_where_they_are_few(n_entries, ends):
    names = {str(place) for place in range(n_entries)}
    assert describe_difference(set(), names).endswith(ends)
