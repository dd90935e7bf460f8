"""Entropy rates that the checks once let pass: sources with a period."""

import math

import torch

from autograder.proving.strangers import stranger


def _rate_after(n_steps, transition):
    shares = torch.full_like(transition[0], 1 / len(transition))
    for _ in range(n_steps):
        shares = shares @ transition
    return -(shares @ torch.xlogy(transition, transition).sum(1)).item() / math.log(2)


@stranger(of="entropy_rate", may_be=["shares_after_many_steps_from_equal_ones"])
def a_thousand_steps_from_equal_shares(transition):
    return _rate_after(1000, transition)


@stranger(of="entropy_rate", may_be=["shares_after_many_steps_from_equal_ones"])
def twenty_steps_from_equal_shares(transition):
    return _rate_after(20, transition)
