"""What a further right submission costs here, compared with another checkout of this project, in turns.

    python benchmarks/against.py --against ../earlier [--homework NAME] [--rounds 10] [--counts 1 21]

In each round both checkouts grade the same small and large class of their own reference solutions, one after
the other, with one job. The cost is the time on the wall that a further submission adds, so nothing else may
run meanwhile; processor time would leave out processes that nobody waits for. A ratio above 1 means that this
checkout is slower. Both checkouts need the .venv that `make` sets up.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    options = arguments()
    trees = [ROOT, options.against.resolve()]
    ratios = []
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(options.rounds):
            order = trees if number % 2 == 0 else trees[::-1]
            seconds = {tree: further(tree, options, Path(scratch)) for tree in order}
            ratios.append(seconds[trees[0]] / seconds[trees[1]])
            here, there = (seconds[tree] for tree in trees)
            print(f"{number + 1:>3}  {here:.3f} s here  {there:.3f} s there  {ratios[-1]:.3f}", flush=True)
    print(f"ratio {statistics.median(ratios):.3f} (lowest {min(ratios):.3f}, highest {max(ratios):.3f})")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, required=True, metavar="CHECKOUT")
    parser.add_argument("--homework", default="hw1_language_models")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--counts", type=int, nargs=2, default=[1, 21], metavar="N")
    parser.add_argument("--isolation", default="best")
    return parser.parse_args()


def further(tree: Path, options: argparse.Namespace, scratch: Path) -> float:
    """The seconds that a further submission costs in a checkout."""
    few, many = options.counts
    used = [graded(tree, options, scratch / "course", count) for count in (few, many)]
    return (used[1] - used[0]) / (many - few)


def graded(tree: Path, options: argparse.Namespace, course: Path, count: int) -> float:
    """The seconds in which a checkout's command grades this many submissions."""
    name = options.homework
    shutil.copytree(tree / "solutions" / name, course / "solutions" / name)
    for file in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copy(tree / file, course / file)
    autograder = [tree / ".venv" / "bin" / "python", "-P", "-m", "autograder"]
    subprocess.run([*autograder, "release", name], cwd=course, check=True, capture_output=True)
    for number in range(count):
        folder = course / "submitted" / f"student_{number:03}" / name
        folder.mkdir(parents=True)
        shutil.copy(course / "solutions" / name / f"{name}.ipynb", folder)
    grade = ["grade", name, "--submissions", "submitted", "--jobs", "1", "--isolation", options.isolation]
    begun = time.perf_counter()
    subprocess.run([*autograder, *grade], cwd=course, check=True, capture_output=True)
    seconds = time.perf_counter() - begun
    shutil.rmtree(course)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
