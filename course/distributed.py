"""The same training on several processes: each takes some rows of every batch, and gradients are averaged.

    torchrun --nproc-per-node 2 -m course.ladder --rungs gpt

Any program that calls `course.training.train` after `join()` runs this way. Every process builds the whole
batch, which costs little, and keeps its own rows. The averaged gradient is that of the whole batch, so up to
rounding the result does not depend on the number of processes.
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
    """Join the processes that torchrun started; return this process's device, or None without torchrun."""
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
    """Whether this process is the one that writes files and prints; a single process is."""
    return not is_joined() or distributed.get_rank() == 0


def leave() -> None:
    """Leave the group of processes; call it last."""
    if is_joined():
        distributed.destroy_process_group()


def replicated(model: nn.Module) -> nn.Module:
    """Wrap a model so that its backward pass averages gradients over all processes."""
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
        """The weight of this share's mean, chosen so that all shares together give the mean of the batch."""
        counted = example[2] if len(example) > 2 else torch.ones(len(example[0]))  # a mask, or equal rows
        mine = counted[self.rank :: self.n_processes]
        return self.n_processes * float(mine.sum() / counted.sum())


@dataclass(frozen=True)
class WeightedLoss:
    """A mean loss over one process's rows, weighted as `Share.weight` says."""

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
