"""How long a class takes: `autograder grade` against stock `nbgrader autograde` on the same submissions.

    python benchmarks/grading.py [--homework NAME] [--counts 20 60] [--isolation best]

Each is run from the command line, one after the other, in a fresh copy of the same released course, so
start-up time counts. The slope is the time that each further submission adds. Both must give the same points.
The cells of a homework's living end are left out: they train for a while, and this grader never runs them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.sample.demo import make_course
from autograder.sample.sample_class import hand_in_ordinary
from autograder.source.loading import find
from autograder.source.notebook import ALIVE

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        template = Path(scratch, "template")
        make_course(template, ROOT / "solutions" / options.homework, ROOT)
        rows = [measure(template, Path(scratch), options, count) for count in options.counts]
    print(table(rows))
    return int(not all(row["same points"] for row in rows))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--homework", default="hw1_language_models")
    parser.add_argument("--counts", type=int, nargs=2, default=[20, 60], metavar="N")
    parser.add_argument("--isolation", default="best")
    return parser.parse_args()


def measure(template: Path, scratch: Path, options: argparse.Namespace, count: int) -> dict:
    """Grade `count` submissions with both, each in a course of its own."""
    name = options.homework
    ours = [sys.executable, "-m", "autograder", "grade", name, "--submissions", "submitted"]
    stock = [str(Path(sysconfig.get_path("scripts"), "nbgrader")), "autograde", name]
    commands = {"ours": [*ours, "--isolation", options.isolation], "stock": stock}
    seconds, points = {}, {}
    for who, command in commands.items():
        course = shutil.copytree(template, scratch / f"{who}_{count}")
        released = json.loads((course / "homeworks" / name / f"{name}.ipynb").read_text())
        released["cells"] = [cell for cell in released["cells"] if ALIVE not in cell["metadata"]]
        hand_in_ordinary(find(name, course), released, course / "submitted", count)
        if who == "stock":
            unplug(course)
        seconds[who] = wall_seconds(command, course)
        points[who] = points_in(course, name)
        shutil.rmtree(course)
    return {"count": count, **seconds, "same points": points["ours"] == points["stock"]}


def unplug(course: Path) -> None:
    """Leave this grader out of nbgrader's own commands."""
    settings = course / "nbgrader_config.py"
    text = settings.read_text(encoding="utf-8")
    if "\nuse_judge(c)\n" not in text:
        raise SystemExit("nbgrader_config.py does not configure the judge where this benchmark expects it")
    settings.write_text(text.replace("\nuse_judge(c)\n", "\n"), encoding="utf-8")


def wall_seconds(command: list[str], course: Path) -> float:
    """How long a command takes in a course; its output is shown only if it fails."""
    environment = os.environ | {"PYTHONSAFEPATH": "1"}
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return seconds


def points_in(course: Path, name: str) -> dict[str, float]:
    """Every student's points for code, from the gradebook."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "language-models") as gradebook:
        submissions = gradebook.assignment_submissions(name)
        return {submission.student.id: submission.code_score for submission in submissions}


def table(rows: list[dict]) -> str:
    """The measured seconds, the ratio at the first count, and the slopes."""
    few, many = rows
    further = many["count"] - few["count"]
    slopes = {who: (many[who] - few[who]) / further for who in ("ours", "stock")}
    lines = [f"{'submissions':>11}  {'ours':>8}  {'nbgrader':>8}  ratio  same points"]
    for row in rows:
        times = f"{row['ours']:>6.1f} s  {row['stock']:>6.1f} s  {row['stock'] / row['ours']:>4.1f}×"
        lines.append(f"{row['count']:>11}  {times}  {'yes' if row['same points'] else 'NO'}")
    ratio = slopes["stock"] / slopes["ours"]
    each = f"each further submission: {slopes['ours']:.3f} s and {slopes['stock']:.3f} s"
    return "\n".join([*lines, f"{each}, 1/{ratio:.1f}"])


if __name__ == "__main__":
    sys.exit(main())
