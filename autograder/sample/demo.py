"""The whole process on a built-in example: build, release, submit, grade, report."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from autograder.catalogue import Misconception
from autograder.isolation import IsolationUnavailable, Limits, choose
from autograder.marks.records import HomeworkRecord, SubmissionRecord, is_unwritten
from autograder.markup import one_line
from autograder.sample.sample_class import hand_in_class
from autograder.source.homework import HomeworkSource
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


def table(record: HomeworkRecord, homework: HomeworkSource, width: int = 100) -> str:
    """Every student's mark, and below it what went wrong."""
    known = {entry.name: entry for entry in homework.misconceptions}
    names = [one_line(submission.student) for submission in record.submissions]
    longest = max(map(len, names), default=0)
    lines = []
    for name, submission in zip(names, record.submissions, strict=True):
        lines.append(f"{name:<{longest}}  {mark(submission)}")
        for note in _notes(submission, known):
            lines += textwrap.wrap(
                one_line(note),
                width,
                initial_indent=" " * (longest + 2) + "· ",
                subsequent_indent=" " * (longest + 4),
            )
    return "\n".join(lines)


def mark(submission: SubmissionRecord) -> str:
    """`4 of 5`, or a note that there is no mark."""
    if submission.status != "graded":
        return "could not be run"
    return f"{submission.points:g} of {submission.max_points:g}"


def _notes(submission: SubmissionRecord, known: dict[str, Misconception]) -> Iterator[str]:
    """The problem, flags that no line below repeats, notes, a line for each exercise that lost points."""
    exercises = submission.exercises if submission.status == "graded" else ()
    unwritten = [exercise.name for exercise in exercises if is_unwritten(exercise)]
    lost = []
    for exercise in exercises:
        failed = [check for check in exercise.checks if check.result == "failed"]
        named = " ".join(known[name].diagnosis for name in exercise.diagnosis)
        if failed and exercise.name not in unwritten:
            lost.append(f"{exercise.name}: {named or failed[0].message.splitlines()[-1]}")
    yield from [submission.problem] if submission.problem else []
    yield from (flag for flag in submission.flags if not any(flag in line for line in lost))
    yield from submission.notes
    if unwritten:
        yield f"not written yet: {', '.join(unwritten)}"
    yield from lost
