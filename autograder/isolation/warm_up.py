"""Preparations of the warm process that spare each student process time; no thread may remain."""

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import torch
from torch.nn import functional

from autograder.isolation import confinement
from autograder.isolation.cells import Shell

TASKS = Path("/proc/self/task")
SECONDS_TO_LEAVE = 0.5  # for a thread that is about to end


class Step(NamedTuple):
    """One preparation, and its name for the message if it is left out."""

    name: str
    take: Callable[[], object]


def steps(shell: Shell, imports: tuple[str, ...]) -> Iterator[Step]:
    """Import modules and every part of the course; then use torch and the shell once, on one thread."""
    for name in (*imports, *modules_of("course")):
        yield Step(f"import {name}", partial(import_quietly, name))
    yield Step("a forward pass", forward)
    yield Step("a backward pass", backward)
    yield Step("a plot", partial(plot, shell))


def modules_of(package: str) -> list[str]:
    """The names of a package and all its modules but for programs, without importing them."""
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError(f"there is no package {package}", name=package)
    place = Path(spec.submodule_search_locations[0])
    paths = (path.relative_to(place).with_suffix("") for path in sorted(place.rglob("*.py")))
    parts = [path.parts for path in paths if path.name != "__main__"]
    return [".".join((package, *names)).removesuffix(".__init__") for names in parts]


def import_quietly(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception as error:  # a submission that imports it will meet the same error
        print(f"{name} is not imported ahead: {error}", file=sys.stderr)


def forward() -> None:
    query = torch.ones(1, 2, 4, 8)
    functional.scaled_dot_product_attention(query, query, query)
    torch.einsum("bhid,bhjd->bhij", query, query).softmax(-1)
    torch.nn.LSTM(4, 4)(torch.ones(2, 1, 4))
    repr(query)
    torch.manual_seed(0)


def backward() -> None:
    """With an NVIDIA driver this starts torch's threads for CUDA, even if no GPU is visible."""
    layers = (torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 3))
    model = torch.nn.Sequential(*layers)
    for optimizer_class in (torch.optim.SGD, torch.optim.AdamW):
        optimizer = optimizer_class(model.parameters(), lr=0.1)
        functional.cross_entropy(model(torch.ones(5, 4)), torch.zeros(5, dtype=torch.long)).backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.manual_seed(0)


def plot(shell: Shell) -> None:
    shell.run_cell("import matplotlib.pyplot; matplotlib.pyplot.plot([1, 2])", store_history=False)
    shell.user_ns.pop("matplotlib", None)
    shell.output.clear()


def other_threads() -> list[str]:
    """The names of the other threads, except those that end immediately; none if they are unknown."""
    deadline = time.monotonic() + SECONDS_TO_LEAVE
    while (names := _other_threads()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return names


def _other_threads() -> list[str]:
    names = []
    for task in TASKS.iterdir() if TASKS.is_dir() else ():
        if task.name != str(os.getpid()):
            with contextlib.suppress(OSError):  # it has ended
                names.append((task / "comm").read_text().strip())
    return names


def has_children() -> bool:
    """Whether this process has child processes; False if that is unknown."""
    children = TASKS / str(os.getpid()) / "children"
    return children.exists() and bool(children.read_text().split())


def take_carefully(taken: Sequence[Step]) -> Iterator[str]:
    """Take the steps that leave no thread behind; yield the others, with the threads they would leave."""
    threads = threads_left_by(taken)
    if not threads:
        for step in taken:
            step.take()
    elif len(taken) == 1:
        yield f"{taken[0].name} ({', '.join(threads)})"
    else:
        half = len(taken) // 2
        yield from take_carefully(taken[:half])
        yield from take_carefully(taken[half:])


def threads_left_by(taken: Sequence[Step]) -> list[str]:
    """The names of the threads that steps leave behind, found by trying them in a temporary process."""
    answer, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            confinement.silence()
            for step in taken:
                step.take()
        finally:
            os.write(tell, "\n".join(other_threads()).encode())
            os._exit(0)
    os.close(tell)
    with os.fdopen(answer) as said:
        names = said.read().splitlines()
    _, status = os.waitpid(child, 0)
    return names or (["its process ended"] if status else [])
