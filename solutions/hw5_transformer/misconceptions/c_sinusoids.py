"""What goes wrong with sines and cosines of positions: exponents, columns, the first position."""

import torch

from autograder.catalogue import misconception

# 16. sinusoidal_positions


def _waves(n_positions, d_model, sine_exponent, cosine_exponent, first=0):
    """Sines and cosines in neighbouring columns, with an exponent for each even column."""
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    positions = torch.arange(first, first + n_positions, dtype=torch.float64)[:, None]
    sines = (positions / 10_000.0 ** (sine_exponent(even) / d_model)).sin()
    cosines = (positions / 10_000.0 ** (cosine_exponent(even) / d_model)).cos()
    return sines, cosines


def _side_by_side(sines, cosines, d_model):
    return torch.stack([sines, cosines], dim=-1).flatten(1)[:, :d_model]


def _same(even):
    return even


def _doubled(even):
    return 2 * even


def _negative(even):
    return -even


@misconception(of="sinusoidal_positions", seen="https://github.com/SamLynnEvans/Transformer/issues/25")
def exponent_counted_twice(n_positions, d_model):
    """The exponents are doubled: the column's number is 2i already, or only half the width divides it.

    For D = 4 the third column has i = 1. Which exponent do you use there, and which does the formula?
    """
    return _side_by_side(*_waves(n_positions, d_model, _doubled, _doubled), d_model)


@misconception(
    of="sinusoidal_positions", seen="https://github.com/BrianPulfer/PapersReimplementations/issues/9"
)
def cosine_with_an_exponent_of_its_own(n_positions, d_model):
    """The cosine uses its own column's number, 2i + 1, so a pair has two wavelengths.

    Which i has column 1, and which column 0? Sum the squares of the two for some position.
    """
    return _side_by_side(*_waves(n_positions, d_model, _same, lambda even: even + 1), d_model)


@misconception(of="sinusoidal_positions", seen="https://github.com/codertimo/BERT-pytorch/issues/78")
def odd_widths_do_not_fit(n_positions, d_model):
    """As many cosines as sines are written, which do not fit where the width is odd.

    How many columns 1, 3, 5, … are there if D = 3, and how many cosines do you compute?
    """
    sines, cosines = _waves(n_positions, d_model, _same, _same)
    table = torch.zeros(n_positions, d_model, dtype=torch.float64)
    table[:, 0::2] = sines
    table[:, 1::2] = cosines
    return table


@misconception(of="sinusoidal_positions", seen="https://github.com/allenai/allennlp/issues/2993")
def sines_first_cosines_last(n_positions, d_model):
    """All sines stand in the first half and all cosines in the second; here they are to be neighbours.

    What is the second number of position 0? (Either order would do in a model; one had to be agreed on.)
    """
    return torch.cat(_waves(n_positions, d_model, _same, _same), dim=1)[:, :d_model]


@misconception(of="sinusoidal_positions")
def positions_counted_from_one(n_positions, d_model):
    """The first position is counted as 1.

    What are sine and cosine of position 0?
    """
    return _side_by_side(*_waves(n_positions, d_model, _same, _same, first=1), d_model)


@misconception(of="sinusoidal_positions")
def cosine_first(n_positions, d_model):
    """The cosine stands in the even columns and the sine in the odd ones.

    Column 0 is even. Which function does the formula put there?
    """
    sines, cosines = _waves(n_positions, d_model, _same, _same)
    return _side_by_side(cosines, sines, d_model)


@misconception(of="sinusoidal_positions")
def exponent_not_doubled(n_positions, d_model):
    """The exponent is i / D where it should be 2i / D, so the later pairs turn too fast.

    For D = 4 the second pair has i = 1. By which power of 10000 is the position divided there?
    """
    return _side_by_side(*_waves(n_positions, d_model, lambda even: even / 2, lambda even: even / 2), d_model)


@misconception(of="sinusoidal_positions")
def column_number_taken_for_i(n_positions, d_model):
    """The number of the column is taken for i, so every column has a wavelength of its own.

    Columns 0 and 1 form the pair with i = 0. Which i has column 2, and which column 3?
    """
    return _side_by_side(*_waves(n_positions, d_model, _doubled, lambda even: 2 * (even + 1)), d_model)


@misconception(of="sinusoidal_positions")
def positions_multiplied(n_positions, d_model):
    """The position is multiplied by the power of 10,000, where it should be divided by it.

    For D = 4, by which angle is the second pair turned at position 1? Do your waves become slower or faster?
    """
    return _side_by_side(*_waves(n_positions, d_model, _negative, _negative), d_model)
