"""Where the grader spends its time: `python benchmarks/slowest_in_grading.py [--count 30]`.

One process judges a class and records its marks, one submission after another, under Python's profiler.
Waiting for the student's process is left out of the table and printed separately. Times under the profiler
are longer than without it.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from grading import ROOT
from hot import hottest

from autograder.grading.clerk import Clerk, Task
from autograder.grading.order import Order
from autograder.grading.paper import mark
from autograder.grading.plan import Plan
from autograder.isolation import Level, Limits, Warm, choose
from autograder.marks.gradebook import MarkBook
from autograder.marks.records import RecordFolder
from autograder.sample.demo import make_course
from autograder.sample.sample_class import hand_in_ordinary
from autograder.source.loading import find
from autograder.submissions.collect import collect

# Reading waits for the student's process; so does writing, if it wakes that process on the same core.
WAITING = {"<method 'poll' of 'select.poll' objects>", "<method 'write' of '_io.FileIO' objects>"}


@dataclass
class OneAfterAnother:
    """Judges inside this process, so that one profile covers them all."""

    level: Level
    warm: Warm

    def judged(
        self, tasks: Sequence[Task], plan: Plan, arriving: object = None
    ) -> Iterator[tuple[Task, dict]]:
        for task in tasks:
            yield task, mark(task.paper(), plan, self.level.name, self.warm.student).as_json()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--homework", default="hw1_language_models")
    parser.add_argument("--count", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        course = Path(scratch)
        make_course(course, ROOT / "solutions" / options.homework, ROOT)
        stats = profiled(course, options.homework, options.count)
    waited = sum(entry[2] for place, entry in stats.stats.items() if place[2] in WAITING)
    print(f"{options.count} submissions in {stats.total_tt:.1f} profiled s, {waited:.1f} of them waiting")
    print("\n".join(hottest(stats, without=WAITING)))


def profiled(course: Path, homework: str, count: int) -> pstats.Stats:
    """The profile of grading a class of this size."""
    released = json.loads((course / "homeworks" / homework / f"{homework}.ipynb").read_text())
    hand_in_ordinary(find(homework, course), released, course / "submitted", count)
    plan, level = Order(homework).plan(course), choose("best")
    plan.prepare()
    with Warm(level, Limits()) as warm, MarkBook(course, homework) as marks:
        judges, folder = OneAfterAnother(level, warm), RecordFolder(course / "grades", homework)
        clerk = Clerk(plan, marks, folder, judges, collect(course / "submitted", homework))
        profile = cProfile.Profile()
        profile.runcall(clerk.work, list(clerk.due()))
    return pstats.Stats(profile)


if __name__ == "__main__":
    main()
