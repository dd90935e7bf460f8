"""How grading grows with the number of submissions and with jobs: `python benchmarks/grading_growth.py`.

Seconds = start-up + slope · submissions, fitted by least squares; the exponent p is that of the larger half.
A job is a judge and a sandbox that take turns, so two jobs keep a core busy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from grading import ROOT, wall_seconds
from growth import exponent

from autograder.sample.demo import make_course
from autograder.sample.sample_class import hand_in_ordinary
from autograder.source.loading import find

HOMEWORK = "hw1_language_models"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[20, 40, 80, 160])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--count-for-jobs", type=int, default=40)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        template = Path(scratch, "template")
        make_course(template, ROOT / "solutions" / HOMEWORK, ROOT)
        by_count = {count: seconds(template, count) for count in options.counts}
        by_jobs = {jobs: seconds(template, options.count_for_jobs, jobs) for jobs in options.jobs}
    slope, start = statistics.linear_regression(list(by_count), list(by_count.values()))
    shown = "  ".join(f"{count}: {value:.1f}" for count, value in by_count.items())
    print(f"s at submissions  {shown}")
    print(f"start-up {start:.1f} s, each submission {slope:.3f} s, p = {exponent(by_count):.2f}")
    shown = "  ".join(f"{jobs}: {value:.1f}" for jobs, value in by_jobs.items())
    print(f"s at jobs         {shown}  ({options.count_for_jobs} submissions, {os.cpu_count()} cores)")
    if options.picture:
        draw(by_count, by_jobs, (slope, start), options.picture)


def seconds(template: Path, count: int, jobs: int | None = None) -> float:
    """Grade a class of this size in a fresh copy of the course, from the command line."""
    with tempfile.TemporaryDirectory() as scratch:
        course = shutil.copytree(template, Path(scratch, "course"))
        released = json.loads((course / "homeworks" / HOMEWORK / f"{HOMEWORK}.ipynb").read_text())
        hand_in_ordinary(find(HOMEWORK, course), released, course / "submitted", count)
        command = [sys.executable, "-m", "autograder", "grade", HOMEWORK, "--submissions", "submitted"]
        return wall_seconds([*command, *(["--jobs", str(jobs)] if jobs else [])], course)


def draw(
    by_count: dict[int, float], by_jobs: dict[int, float], line: tuple[float, float], path: Path
) -> None:
    """Left, seconds against the size of the class, with the fitted line; right, seconds against jobs."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
    slope, start = line
    sizes = [0, max(by_count)]
    left.plot(
        sizes, [start + slope * size for size in sizes], "-", color="#D55E00", label="start-up + slope · n"
    )
    left.plot(by_count.keys(), by_count.values(), "o", color="#0072B2", label="measured")
    left.set(xlabel="submissions", ylabel="seconds", ylim=(0, None))
    left.legend(frameon=False)
    right.bar([str(jobs) for jobs in by_jobs], by_jobs.values(), color="#0072B2")
    right.set(xlabel="jobs", ylabel="seconds")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, bbox_inches="tight", facecolor="white")
    plt.close(figure)


if __name__ == "__main__":
    main()
