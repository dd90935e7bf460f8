"""Bounds and entries that the checks of gradients once let pass."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import LOSSES


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


def _compared(right, left, claimed, larger):
    mean = (right + left) / 2
    is_kink = (right - left).abs() > 0.01 * torch.maximum(right.abs(), left.abs())
    return ((mean - claimed).abs() > 1e-4 * larger(mean.abs(), claimed.abs())) & ~is_kink


@stranger(of="wrong_entries")
def share_of_the_smaller_number(right, left, claimed):
    return _compared(right, left, claimed, torch.minimum)


@stranger(of="wrong_entries")
def share_of_the_largest_of_three(right, left, claimed):
    slopes = torch.maximum(right.abs(), left.abs())
    return _compared(right, left, claimed, lambda mean, claim: torch.maximum(slopes, claim))


@stranger(of="wrong_entries")
def kinks_beside_the_mean(right, left, claimed):
    mean = (right + left) / 2
    return _judged(right, left, claimed, kink=1.0) & ((right - left).abs() <= 0.01 * mean.abs())


@stranger(of="numerical_gradient")
def steps_of_a_hundredth(loss_name, x, seed):
    gradient, wide = torch.zeros(x.shape, dtype=torch.float64), x.double()
    for index in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[index] = 0.01
        above, below = (
            LOSSES[loss_name](wide + sign * step.reshape(x.shape), torch.Generator().manual_seed(seed))
            for sign in (1, -1)
        )
        gradient.view(-1)[index] = (above - below) / 0.02
    return gradient


@stranger(of="wrong_entries")
def kinks_where_the_sign_changes(right, left, claimed):
    return _judged(right, left, claimed, kink=1.0)


@stranger(of="wrong_entries", may_be=["only_the_slope_to_one_side"])
def only_the_slope_to_the_left(right, left, claimed):
    is_kink = (right - left).abs() > 0.01 * torch.maximum(right.abs(), left.abs())
    return ((left - claimed).abs() > 1e-4 * torch.maximum(left.abs(), claimed.abs())) & ~is_kink
