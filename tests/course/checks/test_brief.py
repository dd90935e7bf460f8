"""What is shown of two large values is where a reader sees them differ."""

import torch

from course.checks.brief import brief_pair


def test_of_large_tensors_the_place_is_shown_where_the_difference_can_be_seen():
    expected = torch.ones(4, 9, 5, dtype=torch.float64)
    received = expected.clone()
    received[0, 2, 1] += 1e-7
    received[3, 4, 2] += 0.5
    one, other = brief_pair(received, expected)
    assert one.startswith("[3, 4, ")
    assert one != other
    only_tiny = brief_pair(received[:1], expected[:1])
    assert only_tiny[0].startswith("[0, 2, ")


def test_small_tensors_have_the_digits_in_which_they_differ():
    expected = torch.tensor([[0.25, 3.0], [1.5, -2.0]], dtype=torch.float64)
    received = expected.clone()
    received[1, 0] += 1e-6
    one, other = brief_pair(received, expected)
    assert one != other
    assert "1.500001" in one
    assert "0.25" in one
    assert brief_pair(expected, expected) == (other, other)
