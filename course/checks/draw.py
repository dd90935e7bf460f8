"""Random inputs for checks, the same for every version of torch."""

import math
import random
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def seed_of(name: str) -> int:
    """A seed that depends only on the name and is equal in every process."""
    return zlib.crc32(name.encode())


class Draw:
    """A source of small random inputs, all of them drawn in order from `random.Random(seed).random()`."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def number(self, low: float, high: float) -> float:
        """One real number in [low, high)."""
        return low + (high - low) * self._random()

    def uniform(
        self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float64
    ) -> Tensor:
        """Real numbers in [low, high)."""
        return _filled(shape, lambda: self.number(low, high), dtype)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """Standard normal numbers (by the Box–Muller transform)."""
        return _filled(shape, self._gauss, dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor | int:
        """Whole numbers from low to high - 1; a plain int if no shape is given."""
        return (
            _filled(shape, lambda: self._integer(low, high), torch.int64)
            if shape
            else self._integer(low, high)
        )

    def probabilities(self, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """Positive numbers whose last axis sums to one."""
        weights = _filled(shape, lambda: -math.log(1.0 - self._random()) + 1e-3, torch.float64)
        return (weights / weights.sum(-1, keepdim=True)).to(dtype)

    def permutation(self, n: int) -> list[int]:
        """The numbers 0 … n - 1 in random order."""
        order = list(range(n))
        for last in range(n - 1, 0, -1):
            other = self._integer(0, last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, all equally likely."""
        return options[self._integer(0, len(options))]

    def sentence(self, words: Sequence[str], length: int) -> list[str]:
        """`length` words, drawn one by one."""
        return [self.choice(words) for _ in range(length)]

    def generator(self) -> torch.Generator:
        """A torch generator with its own seed; a student's function gets a copy of it."""
        return torch.Generator().manual_seed(self._integer(0, 2**31))

    def _integer(self, low: int, high: int) -> int:
        if high <= low:
            raise ValueError(f"no whole number lies in [{low}, {high})")
        return low + int(self._random() * (high - low))

    def _gauss(self) -> float:
        radius = math.sqrt(-2.0 * math.log(1.0 - self._random()))
        return radius * math.cos(2.0 * math.pi * self._random())


def _filled(shape: tuple[int, ...], number: Callable[[], float], dtype: torch.dtype) -> Tensor:
    return torch.tensor([number() for _ in range(math.prod(shape))], dtype=dtype).reshape(shape)
