"""How long a class takes: `autograder grade` against `otter run` on the same submissions.

    python benchmarks/otter.py [--otter PROGRAM] [--homework NAME] [--count 10] [--isolation best]

Otter gets the same checks as exception-based tests and runs each submission in a process of its own, without
a sandbox; that is its documented way to grade on your own machine. Needs otter-grader, which may be installed
in a separate environment if torch and the course are there too; without it, this benchmark says so and ends.
https://otter-grader.readthedocs.io/en/latest/otter_run.html
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grading import ROOT, points_in, wall_seconds

from autograder.sample.demo import make_course
from autograder.sample.sample_class import hand_in_ordinary
from autograder.source.homework import Check, HomeworkSource
from autograder.source.loading import find

TEST = """\
from otter.test_files import test_case

OK_FORMAT = False
name = {name!r}
points = {points}

CHECK = {source!r}


@test_case()
def runs_as_in_the_notebook(env):
    exec(CHECK, dict(env))
"""


def main() -> int:
    options = arguments()
    if options.otter is None:
        print("otter-grader is not installed; give its program with --otter.")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        course = Path(scratch, "course")
        make_course(course, ROOT / "solutions" / options.homework, ROOT)
        homework = find(options.homework, course)
        released = json.loads((course / "homeworks" / homework.name / f"{homework.name}.ipynb").read_text())
        hand_in_ordinary(homework, released, course / "submitted", options.count)
        bundle = bundled(homework, Path(scratch, "otter"), options.otter)
        seconds, points = by_otter(course / "submitted", bundle, options.otter)
        command = [sys.executable, "-m", "autograder", "grade", homework.name, "--submissions", "submitted"]
        ours = wall_seconds([*command, "--isolation", options.isolation], course)
        same = points == points_in(course, homework.name)
    each = seconds / options.count
    print(f"{'submissions':>11}  {'ours':>8}  {'otter run':>9}  ratio  same points")
    times = f"{ours:>6.1f} s  {seconds:>7.1f} s  {seconds / ours:>4.1f}×"
    print(f"{options.count:>11}  {times}  {'yes' if same else 'NO'}")
    print(f"otter run: {each:.2f} s for each submission")
    return int(not same)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--otter", default=shutil.which("otter"), help="the program of otter-grader")
    parser.add_argument("--homework", default="hw1_language_models")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--isolation", default="best")
    return parser.parse_args()


def bundled(homework: HomeworkSource, folder: Path, otter: str) -> Path:
    """Otter's configuration of a homework, with every check as a test."""
    tests = folder / "tests"
    tests.mkdir(parents=True)
    for exercise in homework.exercises:
        for check in exercise.checks:
            (tests / f"{check.name}.py").write_text(as_test(check), encoding="utf-8")
    bundle = folder / "autograder.zip"
    run([otter, "generate", "-t", str(tests), "-o", str(bundle), "--no-config", "--no-environment"], folder)
    return bundle


def as_test(check: Check) -> str:
    """A check in the form of an otter test; it runs in a copy of the notebook's names."""
    return TEST.format(name=check.name, points=check.points, source=check.source)


def by_otter(submitted: Path, bundle: Path, otter: str) -> tuple[float, dict[str, float]]:
    """Seconds for all submissions, one after the other, and each student's points."""
    begun, points = time.perf_counter(), {}
    for notebook in sorted(submitted.glob("*/*/*.ipynb")):
        place = notebook.parent
        run([otter, "run", "-a", str(bundle), "-o", str(place), "--no-logo", str(notebook)], place)
        results = json.loads((place / "results.json").read_text())
        points[place.parent.name] = sum(test["score"] for test in results["tests"] if "score" in test)
        (place / "results.json").unlink()
    return time.perf_counter() - begun, points


def run(command: list[str], folder: Path) -> None:
    """Run a command quietly; its output is shown only if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


if __name__ == "__main__":
    sys.exit(main())
