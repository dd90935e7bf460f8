"""The whole process on a built-in example: build, release, submit, grade, report."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from autograder.isolation import IsolationUnavailable, Limits, choose
from autograder.marks.records import HomeworkRecord
from autograder.marks.table import table
from autograder.sample.sample_class import hand_in_class
from autograder.source.loading import find

HOMEWORK = "hw1_language_models"
MARKER = "this_is_the_demo.txt"  # only a directory that contains it is ever removed
HOW_TO_ISOLATE = """\
Student code is run only in a sandbox, and none works on this machine: {reason}.
On Linux, install bubblewrap (`apt install bubblewrap`) or use a kernel of 5.13 or later, which has Landlock.
On macOS and Windows, use a Linux virtual machine or container. The demo's own submissions are harmless:
`autograder demo --isolation none` runs them unconfined."""


def demo(root: Path, *, isolation: str = "best", homework: str = HOMEWORK) -> HomeworkRecord:
    """Make root/demo, grade a class of sample submissions there, print the marks and write the report.

    Raises IsolationUnavailable, which says what to do, before anything is created.
    """
    try:
        level = choose(isolation)
    except IsolationUnavailable as problem:
        raise IsolationUnavailable(HOW_TO_ISOLATE.format(reason=problem)) from problem
    from autograder.grade import grade
    from autograder.reporting.report import report

    course = fresh_course(root.resolve(), homework)
    print(f"Built and released {homework} in {course}.")
    source = find(homework, course)
    notebook = json.loads((course / "homeworks" / homework / f"{homework}.ipynb").read_text("utf-8"))
    students = hand_in_class(source, notebook, course / "submitted")
    print(f"{len(students)} students have submitted. Isolation: {level.name} ({level.reason}).")
    submitted, limits = course / "submitted", Limits(call_seconds=5)
    record = grade(homework, submitted, root=course, isolation=isolation, limits=limits)
    print("\n" + table(record, source) + "\n")
    print(f"Report:     {report(homework, course)}")
    print(f"Marks:      {course / 'gradebook.db'}, {course / 'grades' / homework}.json")
    nbgrader = Path(sys.executable).with_name("nbgrader")  # works without activating the environment
    print(f"Feedback:   cd {course} && {nbgrader} generate_feedback {homework}")
    return record


def fresh_course(root: Path, homework: str) -> Path:
    """A separate course directory with one homework in it, built and released."""
    course = root / "demo"
    if course.exists() and not (course / MARKER).is_file():
        raise FileExistsError(
            f"{course} exists already; move it, because the demo creates a directory of that name."
        )
    shutil.rmtree(course, ignore_errors=True)
    make_course(course, root / "solutions" / homework, root)
    (course / MARKER).write_text("Made by `autograder demo`, which replaces this directory each time.\n")
    return course


def make_course(course: Path, homework: Path, settings: Path) -> None:
    """A course directory with a copy of a homework, released; nbgrader_config.py comes from `settings`."""
    from autograder.making.release import release

    ignored = shutil.ignore_patterns("__pycache__", "*.ipynb")
    shutil.copytree(homework, course / "solutions" / homework.name, ignore=ignored)
    for name in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copy(settings / name, course / name)
    release(course, homework.name)
    # the fingerprints of wrong answers come with the installed package
    shutil.rmtree(course / "course", ignore_errors=True)
