"""How long each lecture takes from top to bottom in a fresh kernel: `python benchmarks/lectures.py`."""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import nbformat

from autograder.making.lectures import execute

LECTURES = Path(__file__).resolve().parents[1] / "lectures"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="some of the lectures, such as 03_perplexity")
    options = parser.parse_args()
    chosen = [LECTURES / f"{name}.ipynb" for name in options.names] or sorted(LECTURES.glob("*.ipynb"))
    total = 0.0
    print(f"{'lecture':<24}{'seconds':>8}{'of them on a processor':>24}{'cells':>7}")
    for path in chosen:
        notebook = nbformat.read(path, as_version=4)
        seconds, busy = timed(notebook, path.parent)
        cells = sum(cell["cell_type"] == "code" for cell in notebook["cells"])
        print(f"{path.stem:<24}{seconds:>8.1f}{busy:>24.1f}{cells:>7}", flush=True)
        total += seconds
    print(f"{'together':<24}{total:>8.1f}")


def timed(notebook: dict, folder: Path) -> tuple[float, float]:
    """Wall seconds of one run, and the processor seconds of its kernel."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    execute(notebook, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, busy


if __name__ == "__main__":
    main()
