"""One training loop for every model of the course.

    history = train(model, ShuffledStories(stories, batch_size=32), TrainingConfig(n_steps=600))

A batch is a function of the step number alone, so an interrupted run continues from its checkpoint exactly
as if nothing had happened. On a CPU, two runs with the same seed give the same numbers, bit for bit.

On a GPU the loop never waits for a step: batches are made there, the steps of a small model are replayed (see
`captured`), and losses and gradient norms are fetched every N_STEPS_UNREAD steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import torch
from torch import Tensor, distributed, nn

from course.captured import WIDTH_MULTIPLE, CapturedStep, CudaRecorder, is_worth_capturing
from course.distributed import Share, WeightedLoss, is_first, is_joined, mean_of_all, replicated
from course.evaluation import evaluating, target_nll
from course.precision import capability_of, step_precision

Example = tuple[Tensor, ...]  # (inputs, targets) or (inputs, targets, mask), or what the loss expects
Batches = Callable[[int], Example]  # a function of the step
Loss = Callable[[nn.Module, Example], Tensor]

OF_THE_DEVICE = ("lr", "fused", "capturable")  # options of an optimiser that a GPU needs otherwise
N_STEPS_UNREAD = 50  # on a GPU, where reading a number waits for every step before it


@dataclass(frozen=True)
class TrainingConfig:
    """The settings of a training run; the optimiser is AdamW (Loshchilov and Hutter 2019)."""

    n_steps: int = 1000
    learning_rate: float = 3e-3  # the highest, at the end of the warm-up
    n_warmup_steps: int = 50
    final_learning_rate: float = 0.02  # as a fraction of the highest
    weight_decay: float = 0.01  # on matrices only
    beta2: float = 0.99
    clip_norm: float = 1.0  # largest gradient norm, over all parameters together
    seed: int = 0  # of dropout; batches have their own seed
    is_compiled: bool = False  # torch.compile: slow to start, then faster on a GPU
    is_captured: bool = True  # on CUDA, steps of a small model are recorded and replayed; see `captured`
    n_steps_between_checkpoints: int = 0  # 0: only after the last step

    def __post_init__(self) -> None:
        for knob in ("n_steps", "learning_rate", "clip_norm"):
            if getattr(self, knob) <= 0:
                raise ValueError(f"{knob}: expected more than 0, got {getattr(self, knob)}")

    def learning_rate_at(self, step: int) -> float:
        """Linear warm-up, then half a cosine down to the final fraction; steps count from 0."""
        if step < self.n_warmup_steps:
            return self.learning_rate * (step + 1) / self.n_warmup_steps
        progress = (step - self.n_warmup_steps) / max(1, self.n_steps - self.n_warmup_steps)
        falling = (1 + math.cos(math.pi * min(1.0, progress))) / 2
        return self.learning_rate * (self.final_learning_rate + (1 - self.final_learning_rate) * falling)

    def is_checkpoint_due(self, n_steps_done: int) -> bool:
        """Whether to save now: after the last step, and regularly before it if configured."""
        every = self.n_steps_between_checkpoints
        return n_steps_done == self.n_steps or (every > 0 and n_steps_done % every == 0)


@dataclass
class History:
    """Losses and gradient norms, step by step."""

    losses: list[float] = field(default_factory=list)  # nats per target
    gradient_norms: list[float] = field(default_factory=list)  # before clipping
    seconds: float = 0.0  # of its steps, wall-clock time
    cpu_seconds: float = 0.0  # the same as processor time of all cores together

    @property
    def n_steps(self) -> int:
        return len(self.losses)


@runtime_checkable
class Placeable(Protocol):
    """Batches that can be made on the device; `ShuffledStories` in `course.data.shuffling` is an example."""

    def placed(self, device: torch.device, width_multiple: int) -> Batches:
        """The same batches, made on this device, with widths rounded up to a multiple."""

    def extremes(self) -> Example:
        """An example with the smallest and the largest token: a model that can read it can read all."""


class TrainingDiverged(ArithmeticError):
    """The loss is no longer a finite number."""


def best_device() -> torch.device:
    """CUDA if available, else Apple's MPS, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def next_token_loss(model: nn.Module, example: Example) -> Tensor:
    """Mean negative log-probability of the targets, over those that the mask (if any) marks as real."""
    inputs, targets, *mask = example
    losses = target_nll(model(inputs), targets)  # (B, T)
    return (losses * mask[0]).sum() / mask[0].sum() if mask else losses.mean()


def adamw(model: nn.Module, config: TrainingConfig, is_captured: bool = False) -> torch.optim.AdamW:
    """AdamW with weight decay on matrices, but not on biases and norms.

    If its steps are captured, the learning rate is a tensor, whose value each replayed step reads.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    matrices = [parameter for parameter in parameters if parameter.ndim >= 2]
    vectors = [parameter for parameter in parameters if parameter.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    options: dict[str, bool] = {}
    if any(parameter.is_cuda for parameter in parameters):
        options["fused"] = True  # one kernel a step
    rate: float | Tensor = config.learning_rate
    if is_captured:
        rate, options["capturable"] = torch.tensor(rate, device=parameters[0].device), True
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, config.beta2), **options)


def require_finite(loss: float, step: int) -> None:
    """Raise TrainingDiverged unless the loss of a step is a finite number."""
    if not math.isfinite(loss):
        raise TrainingDiverged(f"loss: expected a finite number, got {loss} at step {step}")


class Training:
    """A model, its optimiser and its history so far: everything that a checkpoint holds."""

    def __init__(self, model: nn.Module, config: TrainingConfig, loss: Loss, device: torch.device) -> None:
        self.model, self.config, self.loss, self.device = model.to(device), config, loss, device
        self.runs = self.runnable(model)
        n_parameters = sum(parameter.numel() for parameter in model.parameters())
        self.precision = step_precision(device.type, n_parameters, capability_of(device))
        self.is_captured = config.is_captured and is_worth_capturing(
            device.type,
            n_parameters,
            self.precision,
            is_compiled=config.is_compiled,
            n_processes=distributed.get_world_size() if is_joined() else 1,
        )
        self.optimizer = adamw(model, config, self.is_captured)
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.precision == torch.float16)
        self.descend = CapturedStep(self.step, CudaRecorder(device)) if self.is_captured else self.step
        self.history = History()
        self.unread: list[tuple[Tensor, Tensor]] = []  # losses and norms that are still on the device
        self.is_checked = device.type == "cpu"  # there every step looks at the values it gets
        self.reads_every = 1 if device.type == "cpu" else N_STEPS_UNREAD

    def runnable(self, model: nn.Module) -> nn.Module:
        """The model as a step calls it: compiled if configured, averaging gradients over the processes."""
        if self.config.is_compiled:
            model = cast(nn.Module, torch.compile(model))  # compiled, a module is still a module
        return replicated(model) if is_joined() else model

    def take_step(self, example: Example) -> None:
        """One step down the gradient, at the learning rate of its number.

        A loss that is not finite raises TrainingDiverged: on a CPU before any parameter changes, on a GPU
        when the loss is read.
        """
        if not self.is_checked:
            self.check(example)
        began, cpu_began = time.perf_counter(), time.process_time()
        self.set_learning_rate(self.config.learning_rate_at(self.n_steps_taken))
        loss, norm = self.descend(tuple(part.to(self.device) for part in example))
        self.unread.append((loss, norm))
        self.history.seconds += time.perf_counter() - began
        self.history.cpu_seconds += time.process_time() - cpu_began
        if len(self.unread) >= self.reads_every:
            self.read()

    @property
    def n_steps_taken(self) -> int:
        """The steps so far, with those that were not read yet."""
        return self.history.n_steps + len(self.unread)

    def set_learning_rate(self, rate: float) -> None:
        """Change the learning rate, in place if it is a tensor."""
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def step(self, example: Example) -> tuple[Tensor, Tensor]:
        """Forward, backward, clip, update; the loss and the norm of the gradients before clipping."""
        with self.in_its_precision():
            loss = self.loss(self.runs, example)
        if self.reads_every == 1:
            require_finite(loss.item(), self.n_steps_taken)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm)
        self.scaler.step(self.optimizer)  # skipped if a scaled gradient was too large for float16
        self.scaler.update()
        return loss.detach(), norm

    def in_its_precision(self) -> AbstractContextManager:
        """A context in which large products have the precision of this training."""
        if self.precision == torch.float32:
            return nullcontext()
        # a copy of a weight in another precision must not outlive the recording of a step
        return torch.autocast(self.device.type, self.precision, cache_enabled=not self.is_captured)

    def check(self, example: Example) -> None:
        """Let the model look at the values of an example, once per source: on a GPU, steps do not."""
        with evaluating(self.model), torch.no_grad():
            self.loss(self.model, tuple(part.to(self.device) for part in example))
        self.is_checked = True

    def read(self) -> None:
        """Add the steps since the last reading to the history, after waiting for the device.

        Raises TrainingDiverged with the first step whose loss is not finite.
        """
        if not self.unread:
            return
        began, cpu_began, done = time.perf_counter(), time.process_time(), self.history.n_steps
        losses, norms = (torch.stack(each).tolist() for each in zip(*self.unread, strict=True))
        self.unread.clear()
        for step, loss in enumerate(losses, done):
            require_finite(loss, step)
        self.history.losses += losses
        self.history.gradient_norms += norms
        self.history.seconds += time.perf_counter() - began
        self.history.cpu_seconds += time.process_time() - cpu_began

    def save(self, path: Path) -> None:
        """Write everything that the rest of the run depends on; an interruption never leaves half a file."""
        self.read()
        state = {
            "config": asdict(self.config),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "history": asdict(self.history),
            "random": torch.get_rng_state(),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".part")
        torch.save(state, unfinished)
        unfinished.replace(path)

    def load(self, path: Path) -> None:
        """Continue from a file that `save` wrote. Raises ValueError if its configuration differs."""
        state = torch.load(path, map_location=self.device, weights_only=True)
        if state["config"] != asdict(self.config):
            mine = asdict(self.config)
            differing = [f"{knob}: {was!r}, now {mine.get(knob)!r}" for knob, was in state["config"].items()
                         if was != mine.get(knob)]  # fmt: skip
            raise ValueError(
                f"{path}: expected a checkpoint of this configuration, got {'; '.join(differing)}"
            )
        self.model.load_state_dict(state["model"])
        self.load_optimizer(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        self.history = History(**state["history"])
        torch.set_rng_state(state["random"].cpu())

    def load_optimizer(self, state: dict) -> None:
        """Take over an optimiser's averages, but not the options of the device on which it was saved."""
        own = [{option: group[option] for option in OF_THE_DEVICE} for group in self.optimizer.param_groups]
        for saved, options in zip(state["param_groups"], own, strict=True):
            saved.update(options)  # they say where the averages go
        self.optimizer.load_state_dict(state)
        for group, options in zip(self.optimizer.param_groups, own, strict=True):
            group.update(options)  # the learning rate's own tensor, and not a copy


def train(
    model: nn.Module,
    batches: Batches,
    config: TrainingConfig,
    *,
    loss: Loss = next_token_loss,
    device: torch.device | str | None = None,
    checkpoint: Path | str | None = None,
    has_progress_bar: bool = False,
    after_step: Callable[[int, nn.Module], None] | None = None,
) -> History:
    """Train in place on `batches(0) … batches(n_steps − 1)`, by default on the best device.

    With `checkpoint`, continue from that file if it exists, and write it during the run and at the end.
    `after_step` is called with the number of steps done. Under torchrun (see `course.distributed`) every
    process takes its share of each batch, and the first one writes the checkpoint. Raises TrainingDiverged
    when the loss is NaN or infinite.
    """
    if is_joined():
        loss = WeightedLoss(loss)
    training = Training(model, config, loss, best_device() if device is None else torch.device(device))
    batches = ready(batches, training)
    path = None if checkpoint is None else Path(checkpoint)
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        if path is not None and path.exists():
            training.load(path)
        model.train()
        for step in steps_left(training, has_progress_bar):
            training.take_step(batches(step))
            if path is not None and config.is_checkpoint_due(step + 1) and is_first():
                training.save(path)
            if after_step is not None:
                after_step(step + 1, model)
                model.train()
    training.read()
    model.eval()
    if is_joined():
        training.history.losses = mean_of_all(training.history.losses, training.device)
    return training.history


def ready(batches: Batches, training: Training) -> Batches:
    """Batches as this training needs them: on a GPU made and checked there, of several processes a share."""
    if training.device.type != "cpu" and isinstance(batches, Placeable):
        batches = batches.placed(training.device, WIDTH_MULTIPLE if training.is_captured else 1)
        if not is_joined():
            training.check(batches.extremes())
    return Share(batches, distributed.get_rank(), distributed.get_world_size()) if is_joined() else batches


def steps_left(training: Training, has_progress_bar: bool) -> Iterable[int]:
    """The remaining steps, under a progress bar if wanted."""
    done, n_steps = training.history.n_steps, training.config.n_steps
    if not has_progress_bar:
        yield from range(done, n_steps)
        return
    from tqdm.auto import tqdm

    with tqdm(total=n_steps, initial=done, unit="step") as bar:
        for step in range(done, n_steps):
            yield step
            bar.update()
            if training.history.losses:
                bar.set_postfix(loss=f"{training.history.losses[-1]:.3f}", refresh=False)
