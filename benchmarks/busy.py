"""Does a busy machine change a mark? A class is graded on a quiet machine, and again beside busy loops.

    python benchmarks/busy.py [--homework NAME] [--count 60] [--skip 0] [--loops 8] [--isolation best]

Every fourth submission is correct; the others make one to three known mistakes. Each busy loop is a separate
program, and --loops says how many of them run per core that may be used. A class of which students train
models takes long: --skip leaves out the first so many, so that it can be graded in parts. Ends with an error
unless every result is the same.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grading import ROOT, wall_seconds

from autograder.grading.capacity import capacity_here
from autograder.sample.demo import make_course
from autograder.sample.sample_class import hand_in_ordinary
from autograder.source.loading import find

Results = dict[str, dict[str, str]]  # student → check → "passed", "failed" or "could_not_run"


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        course = Path(scratch, "course")
        make_course(course, ROOT / "solutions" / options.homework, ROOT)
        released = json.loads(
            (course / "homeworks" / options.homework / f"{options.homework}.ipynb").read_text()
        )
        hand_in_ordinary(find(options.homework, course), released, course / "submitted", options.count)
        for number in range(options.skip):
            shutil.rmtree(course / "submitted" / f"student_{number:03}")
        quiet = graded(course, Path(scratch, "quiet"), options)
        with busy_loops(options.loops * capacity_here().allowed):
            busy = graded(course, Path(scratch, "busy"), options)
    print(table(quiet, busy, options.loops))
    return int(quiet[0] != busy[0])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--homework", default="hw1_language_models")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--skip", type=int, default=0, help="the first so many of them")
    parser.add_argument("--loops", type=int, default=8, help="for each core")
    parser.add_argument("--isolation", default="best")
    return parser.parse_args()


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Run this many programs that only keep a core busy."""
    loop = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(loop, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def graded(course: Path, copy: Path, options: argparse.Namespace) -> tuple[Results, float]:
    """Grade in a fresh copy of the course, from the command line: the results, and the seconds it took."""
    shutil.copytree(course, copy)
    command = [sys.executable, "-m", "autograder", "grade", options.homework, "--submissions", "submitted"]
    seconds = wall_seconds([*command, "--isolation", options.isolation], copy)
    record = json.loads((copy / "grades" / f"{options.homework}.json").read_text())
    results = {
        submission["student"]: {
            check["name"]: check["result"]
            for exercise in submission["exercises"]
            for check in exercise["checks"]
        }
        for submission in record["submissions"]
    }
    return results, seconds


def table(quiet: tuple[Results, float], busy: tuple[Results, float], loops: int) -> str:
    """How many checks each student passed, the names of those that differ, and the seconds."""
    lines = [f"{'student':<16}{'quiet':>7}{'busy':>7}"]
    for student, alone in quiet[0].items():
        beside = busy[0].get(student, {})
        passed = [list(results.values()).count("passed") for results in (alone, beside)]
        others = [f"{name}: {beside.get(name)}" for name in alone if alone[name] != beside.get(name)]
        lines.append(f"{student:<16}{passed[0]:>7}{passed[1]:>7}  {', '.join(others)}".rstrip())
    same = sum(alone == busy[0].get(student) for student, alone in quiet[0].items())
    lines.append(f"{same} of {len(quiet[0])} the same; {quiet[1]:.0f} s, and {busy[1]:.0f} s beside")
    return "\n".join([*lines[:-1], f"{lines[-1]} {loops} busy loops per core"])


if __name__ == "__main__":
    sys.exit(main())
