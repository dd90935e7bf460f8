"""Checks of a sampler's settings: which values are accepted, and the error for the others."""

from __future__ import annotations


def expect_share(name: str, value: float) -> None:
    """Accept a fraction of the whole: 0 < value ≤ 1."""
    if not 0 < value <= 1:
        raise ValueError(f"{name}: expected a number in (0, 1], got {value}")


def expect_probability(name: str, value: float) -> None:
    """Accept a probability: 0 ≤ value ≤ 1."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: expected a probability from 0 to 1, got {value}")


def expect_positive(name: str, value: float) -> None:
    """Accept a value > 0."""
    if not value > 0:
        raise ValueError(f"{name}: expected a number above 0, got {value}")


def expect_not_negative(name: str, value: float) -> None:
    """Accept a value ≥ 0."""
    if not value >= 0:
        raise ValueError(f"{name}: expected a number of at least 0, got {value}")


def expect_count(name: str, value: int, most: int, of_what: str) -> None:
    """Accept a whole number from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
    if not 1 <= value <= most:
        raise ValueError(f"{name}: expected 1 to {most}, {of_what}; got {value}")
