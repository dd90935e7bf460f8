"""What a sandboxed student's process costs, at every isolation level this machine has, in one run.

    python benchmarks/sandbox.py [--rounds 30] [--students 10]

Measures milliseconds from `Warm.student()` to the end of the first cell and to the end of a small notebook,
milliseconds for one request and for ending the process, and the megabytes that each further running student
adds (shared pages are divided among their users). The levels take turns, so that a slow moment of the machine
affects all of them.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import torch

from autograder.isolation import IsolationUnavailable, Warm, choose
from autograder.isolation.student import Student
from autograder.isolation.tree import children_of, fields_of

NOTEBOOK = """
import math, torch
from torch import nn
from torch.nn import functional as F
# %%
scores = torch.randn(3, 4) @ torch.randn(4, 5)
weights = scores.softmax(-1)
# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 2)
    def forward(self, x):
        return self.b(self.a(x).relu())
# %%
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    net(torch.randn(4, 8)).pow(2).mean().backward()
    optimizer.step()
# %%
def attention(q, k, v):
    return (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1) @ v
# %%
q = torch.randn(2, 4, 16, 32)
assert torch.allclose(attention(q, q, q), F.scaled_dot_product_attention(q, q, q), atol=1e-5)
"""
CELLS = NOTEBOOK.split("# %%")
COLUMNS = ("first cell", "six cells", "request", "end")


def main() -> None:
    options = arguments()
    torch.set_num_threads(1)
    with ExitStack() as stack:
        warm = {level.name: stack.enter_context(Warm(level)) for level in levels()}
        times = {name: [] for name in warm}
        for _ in range(options.rounds):
            for name, process in warm.items():
                times[name].append(one_student(process))
        print(f"{'level':10}" + "".join(f"{column + ' ms':>16}" for column in COLUMNS) + f"{'MB each':>10}")
        for name, process in warm.items():
            medians = [statistics.median(column) for column in zip(*times[name], strict=True)]
            extra = megabytes_per_student(process, options.students)
            print(f"{name:10}" + "".join(f"{value:16.2f}" for value in medians) + f"{extra:10.1f}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--students", type=int, default=10)
    return parser.parse_args()


def levels() -> Iterator:
    """The isolation levels this machine has."""
    for name in ("bwrap", "landlock", "none"):
        try:
            yield choose(name)
        except IsolationUnavailable as problem:
            print(f"no {name}: {problem}")


def one_student(warm: Warm) -> tuple[float, float, float, float]:
    """Milliseconds of each stage of one student's process."""
    query = torch.randn(2, 4, 16, 32)
    begun = perf_counter()
    student = warm.student()
    student.run("print(1)")
    first = perf_counter()
    run_cells(student)
    ran = perf_counter()
    for _ in range(20):
        student.request("attention", "", [query, query, query])
    asked = perf_counter()
    student.kill()
    stages = (first - begun, ran - begun, (asked - ran) / 20, perf_counter() - asked)
    return tuple(1000 * seconds for seconds in stages)


def run_cells(student: Student) -> None:
    for cell in CELLS:
        error = student.run(cell).error
        if error is not None:
            raise RuntimeError(error.sentence())


def megabytes_per_student(warm: Warm, count: int) -> float:
    """Memory that each student's process adds to the warm process and its descendants after its cells ran."""
    sizes = []
    with ExitStack() as stack:
        for _ in range(count):
            run_cells(stack.enter_context(warm.student()))
            sizes.append(megabytes_below(warm.process.pid))
    return statistics.linear_regression(range(count), sizes).slope


def megabytes_below(process: int) -> float:
    """Proportional memory of a process and its descendants."""
    waiting, total = [process], 0
    while waiting:
        pid = waiting.pop()
        total += fields_of(Path(f"/proc/{pid}/smaps_rollup")).get("Pss", 0)
        waiting += children_of(pid)
    return total / 1024


if __name__ == "__main__":
    main()
