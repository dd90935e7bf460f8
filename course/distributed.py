"""The same training on several processes: each takes its rows of every batch, and gradients are averaged.

    torchrun --nproc-per-node 2 -m course.ladder --rungs gpt

Whatever calls `course.training.train` after `join()` runs this way. Every process makes the whole batch,
which costs little, and keeps its share; the gradient is the one of the whole batch, so the result does not
depend on how many processes there are, up to rounding.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

Example = tuple[Tensor, ...]


def join() -> torch.device | None:
    """Join the processes that torchrun started; this one's device, or None where it started none."""
    if "RANK" not in os.environ or not distributed.is_available():
        return None
    on_cuda = torch.cuda.is_available()
    if not distributed.is_initialized():
        distributed.init_process_group("nccl" if on_cuda else "gloo")
    if not on_cuda:
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(device)
    return device


def is_joined() -> bool:
    """Whether this process trains together with others."""
    return distributed.is_available() and distributed.is_initialized()


def is_first() -> bool:
    """Whether this process is the one that writes files and prints; alone it is."""
    return not is_joined() or distributed.get_rank() == 0


def leave() -> None:
    """Part from the others; call it last."""
    if is_joined():
        distributed.destroy_process_group()


def replicated(model: nn.Module) -> nn.Module:
    """The model with a backward pass that averages gradients over all processes."""
    on_cuda = next(model.parameters()).is_cuda
    return DistributedDataParallel(model, device_ids=[torch.cuda.current_device()] if on_cuda else None)


@dataclass(frozen=True)
class Share:
    """This process's rows of every batch: row r, r + n, r + 2n, … of n processes.

    Raises ValueError for a batch with fewer rows than there are processes.
    """

    batches: Callable[[int], Example]
    rank: int
    n_processes: int

    def __call__(self, step: int) -> Example:
        example = self.batches(step)
        if len(example[0]) < self.n_processes:
            raise ValueError(
                f"batch: expected a row for each of {self.n_processes} processes, got {len(example[0])}"
            )
        weight = torch.tensor(self.weight(example))
        return (*(part[self.rank :: self.n_processes] for part in example), weight)

    def weight(self, example: Example) -> float:
        """By how much this share's mean counts, so that the mean of all shares is the mean of the batch."""
        counted = example[2] if len(example) > 2 else torch.ones(len(example[0]))  # a mask, or equal rows
        mine = counted[self.rank :: self.n_processes]
        return self.n_processes * float(mine.sum() / counted.sum())


@dataclass(frozen=True)
class WeightedLoss:
    """A loss that is a mean, weighted by the share that it is a mean of."""

    loss: Callable[[nn.Module, Example], Tensor]

    def __call__(self, model: nn.Module, example: Example) -> Tensor:
        *share, weight = example
        return self.loss(model, tuple(share)) * weight


def mean_of_all(numbers: list[float], device: torch.device) -> list[float]:
    """Each number averaged over all processes."""
    together = torch.tensor(
        numbers, dtype=torch.float32 if device.type == "mps" else torch.float64, device=device
    )
    distributed.all_reduce(together)
    return (together / distributed.get_world_size()).tolist()
