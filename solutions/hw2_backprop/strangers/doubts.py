"""Bounds, square layers and values of relu that the checks once let pass."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import Value


@stranger(of="Value")
class SmallerOfTheNumberAndZero(Value):
    def relu(self):
        value = super().relu()
        value.data = min(self.data, 0.0)
        return value


@stranger(of="Value", may_be=["NoGradientBeforeBackward"])
class GradientOneAtFirst(Value):
    def __init__(self, data):
        super().__init__(data)
        self.grad = 1.0


def _judged(right, left, claimed, *, kink=0.01, wrong=1e-4):
    mean = (right + left) / 2
    is_kink = (right - left).abs() > kink * torch.maximum(right.abs(), left.abs())
    return ((mean - claimed).abs() > wrong * torch.maximum(mean.abs(), claimed.abs())) & ~is_kink


@stranger(of="wrong_entries")
def nothing_is_tolerated(right, left, claimed):
    return _judged(right, left, claimed, wrong=0.0)


@stranger(of="wrong_entries")
def twice_as_much_is_tolerated(right, left, claimed):
    return _judged(right, left, claimed, wrong=2e-4)


@stranger(of="wrong_entries")
def kinks_from_two_percent(right, left, claimed):
    return _judged(right, left, claimed, kink=0.02)


@stranger(of="wrong_entries")
def zeros_called_wrong(right, left, claimed):
    return _judged(right, left, claimed) | ((right == 0) & (left == 0))


@stranger(of="linear_backward")
def other_matrix_where_it_is_square(x, W, upstream):
    dx = upstream @ (W.T if len(W) == W.shape[1] else W)
    return dx, upstream.T @ x, upstream.sum(0)


@stranger(of="wrong_entries")
def kinks_where_the_sign_changes(right, left, claimed):
    return _judged(right, left, claimed, kink=1.0)
