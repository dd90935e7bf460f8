"""A small model's training step as one CUDA graph: recorded once for each shape of batch, then replayed.

A step of a small model is some hundred kernels of a few microseconds each, and Python takes longer to launch
them than the GPU to run them. A graph launches all of them at once. It repeats what it recorded: the same
kernels on tensors at the same places. So a batch is copied to where the recorded one lay, its shape must be
the same, the learning rate must be a tensor, and nothing may depend on a number that Python reads from the
GPU. A step for which one of these fails is run as it is written.

    TrainingConfig(is_captured=False)       every step is run as it is written

Source: https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

Example = tuple[Tensor, ...]
Step = Callable[[Example], Example]  # changes a model, and returns some numbers about the step
Shapes = tuple[tuple[torch.Size, torch.dtype], ...]

MOST_PARAMETERS = 20_000_000  # beyond, kernels take longer than their launch
WIDTH_MULTIPLE = 16  # batches are padded to multiples of this, so that few shapes occur
N_AS_WRITTEN = 2  # steps of each shape before it is recorded: libraries and optimisers set themselves up
MOST_GRAPHS = 32  # each keeps its own batch; rarer shapes than these are run as written


def is_worth_capturing(
    device_type: str, n_parameters: int, precision: torch.dtype, *, is_compiled: bool, n_processes: int
) -> bool:
    """Whether training captures its steps: those of a small model, on one CUDA device, as they are written.

    torch.compile and several processes bring machinery of their own, and so does float16, whose steps may be
    skipped.
    """
    is_plain = not is_compiled and n_processes == 1 and precision != torch.float16
    return device_type == "cuda" and n_parameters <= MOST_PARAMETERS and is_plain


@dataclass(frozen=True)
class Recording:
    """A step that can be repeated: where it reads its batch, where it leaves its numbers."""

    example: Example
    numbers: Example
    replay: Callable[[], None]

    def __call__(self, example: Example) -> Example:
        """Repeat the step on another batch of the same shapes."""
        for place, part in zip(self.example, example, strict=True):
            place.copy_(part, non_blocking=True)
        self.replay()
        return tuple(number.clone() for number in self.numbers)  # the next replay overwrites them


class Recorder(Protocol):
    """What can record a step, on a stream of its own; `CudaRecorder` does."""

    def run(self, step: Step, example: Example) -> tuple[Example, bool]:
        """Run a step as it is written; also whether it can be recorded."""

    def record(self, step: Step, example: Example) -> Recording:
        """Record a step without running it."""


class CapturedStep:
    """A step that is run as written at first, and replayed once its shapes are known."""

    def __init__(self, step: Step, recorder: Recorder) -> None:
        self.step, self.recorder = step, recorder
        self.n_seen: Counter[Shapes] = Counter()
        self.recordings: dict[Shapes, Recording] = {}
        self.can_be_recorded = True

    def __call__(self, example: Example) -> Example:
        """Take the step on this batch, and return its numbers."""
        shapes = tuple((part.shape, part.dtype) for part in example)
        if shapes in self.recordings:
            return self.recordings[shapes](example)
        if not self.can_be_recorded or len(self.recordings) == MOST_GRAPHS:
            return self.step(example)
        self.n_seen[shapes] += 1
        if self.n_seen[shapes] <= N_AS_WRITTEN:
            numbers, can_be_recorded = self.recorder.run(self.step, example)
            self.can_be_recorded &= can_be_recorded
            return numbers
        self.recordings[shapes] = self.recorder.record(self.step, example)
        return self.recordings[shapes](example)


class CudaRecorder:
    """Records CUDA graphs that share their memory, because they are replayed one after the other."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device)
        self.pool = torch.cuda.graph_pool_handle()

    def run(self, step: Step, example: Example) -> tuple[Example, bool]:
        """Run a step on the stream that will record it, and watch whether Python waits for the GPU."""
        now = torch.cuda.current_stream(self.device)
        self.stream.wait_stream(now)
        with torch.cuda.stream(self.stream), noticing_waits() as waits:
            numbers = step(example)
        now.wait_stream(self.stream)
        return numbers, not waits

    def record(self, step: Step, example: Example) -> Recording:
        """Record a step; a RuntimeError says how to train without recording."""
        graph, kept = torch.cuda.CUDAGraph(), tuple(part.clone() for part in example)
        try:
            with torch.cuda.graph(
                graph, pool=self.pool, stream=self.stream, capture_error_mode="thread_local"
            ):
                numbers = step(kept)
        except RuntimeError as error:
            error.add_note("This model's step cannot be recorded: train with is_captured=False.")
            raise
        return Recording(kept, numbers, graph.replay)


@contextmanager
def noticing_waits() -> Iterator[list[str]]:
    """A list that has an entry, after the block, for each time that Python waited for the GPU in it."""
    found: list[str] = []
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield found
    finally:
        torch.cuda.set_sync_debug_mode(before)
    for warning in caught:
        text = str(warning.message)
        if "synchroniz" in text:
            found.append(text)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
