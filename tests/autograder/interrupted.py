"""A small class, and a grader of it in a process of its own: to be killed, or given too little room."""

import contextlib
import itertools
import json
import os
import select
import signal
import sqlite3
import time
from dataclasses import dataclass

from grading import NAME, RIGHT, catalogue, solved, submit
from nbgrader.api import Gradebook
from sqlalchemy import event
from sqlalchemy.engine import Engine

from autograder.cli import main
from autograder.marks import first_submission, gradebook
from autograder.marks.gradebook import MarkBook
from autograder.marks.records import RecordFolder, read_submission

WRONG = catalogue("misconceptions")
POINTS = {
    RIGHT: 4,
    WRONG["divides_by_all"]: 1,
    WRONG["forgets_the_last_window"]: 0,
    WRONG["width_is_always_three"]: 2,
}
FIRST = dict(zip(("ada", "bob", "cleo", "dana", "emil", "finn"), (*POINTS, *POINTS), strict=False))
SECOND = dict(zip(FIRST, (*list(POINTS)[1:], *POINTS), strict=False))  # everybody's mark is another now
MOST_SECONDS = 120.0


def hand_in_all(course, answers):
    for student, answer in answers.items():
        submit(course, student, solved(course, answer))


@dataclass
class Grader:
    """`autograder grade`, forked off this process so that it shares its warm one."""

    process: int
    said: int  # a pipe: what it writes to the terminal

    def kill(self):
        os.kill(self.process, signal.SIGKILL)
        return self.wait()

    def wait(self):
        """The exit status and what was written; a grader that hangs is killed and fails the test."""
        text, deadline = b"", time.monotonic() + MOST_SECONDS
        while select.select([self.said], [], [], max(0.0, deadline - time.monotonic()))[0]:
            if not (chunk := os.read(self.said, 1 << 16)):
                break
            text += chunk
        else:
            os.kill(self.process, signal.SIGKILL)
        os.close(self.said)
        status = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return status, text.decode()


def start(course, spoil=lambda: None, *, jobs=2):
    """Grade what is due; `spoil` is called in the grader's process before it begins."""
    said, writing = os.pipe()
    process = os.fork()
    if process == 0:
        status = 99
        with contextlib.suppress(BaseException):
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            with (
                open(1, "w", closefd=False) as out,
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(out),
            ):
                spoil()
                status = main(words(course, jobs))
        os._exit(status)
    os.close(writing)
    return Grader(process, said)


def words(course, jobs):
    return ["grade", NAME, "--submissions", f"{course}/submitted", "--root", f"{course}", "--jobs", f"{jobs}"]


def records(course):
    """Every student's record; one that is cut short cannot be read and fails the test."""
    return {path.stem: read_submission(path) for path in (course / "grades" / NAME).glob("*.json")}


def marks(course):
    """Each student's points as nbgrader reads them; None for a check without any."""
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        return {
            submission.student.id: sum_of(submission.notebooks[0])
            for submission in gradebook.assignment_submissions(NAME)
        }


def sum_of(notebook):
    points = [grade.auto_score for grade in notebook.grades if grade.name != "why_smooth"]
    return None if None in points or not points else sum(points)


def assert_nothing_is_wrong(course, *allowed):
    """Whatever is there is right for what was handed in, now or before, and whole."""
    with sqlite3.connect(course / "gradebook.db") as database:
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
    for student, record in records(course).items():
        assert record.points in right_for(student, allowed), (student, record)
        assert record.status == "graded"
    for student, points in marks(course).items():
        assert points in right_for(student, allowed), (student, points)
    for path in (course / "autograded").rglob("*.ipynb"):
        json.loads(path.read_text())
    if (summary := course / "grades" / f"{NAME}.json").exists():
        json.loads(summary.read_text())


def right_for(student, allowed):
    return {POINTS[answers[student]] for answers in allowed if student in answers}


def assert_all_is_done(course, answers):
    """A further run ends well, and everybody has the mark of what they handed in."""
    status, said = start(course).wait()
    assert status == 0, said
    assert_nothing_is_wrong(course, answers)
    expected = {student: POINTS[answer] for student, answer in answers.items()}
    assert marks(course) == expected
    assert {student: record.points for student, record in records(course).items()} == expected


STEPS = {
    "a file is put in its place": (os, "replace"),
    "a record is kept": (RecordFolder, "add"),
    "a notebook is written": (MarkBook, "write_notebook"),
    "marks are entered": (MarkBook, "write"),
    "one of a student's marks is changed": (gradebook, "_enter"),
    "the cells of a first submission are entered": (first_submission, "_insert_cells"),
    "penalties are taken off": (MarkBook, "enter_penalties"),
}

NEVER = {
    (True, "the cells of a first submission are entered"),
    (False, "one of a student's marks is changed"),
}
TAKEN = [(is_again, step) for is_again in (False, True) for step in STEPS if (is_again, step) not in NEVER]


def kill_oneself():
    os.kill(os.getpid(), signal.SIGKILL)


def spill():
    """Have SQLite write pages into the file before a transaction ends, as it does with large ones."""

    def keep_nothing_in_memory(connection, record):
        connection.execute("pragma cache_size = 1")
        connection.execute("pragma cache_spill = 1")

    event.listen(Engine, "connect", keep_nothing_in_memory)


def at(step, number, act):
    """Have `act` called in the grader just before it does a step for the `number`-th time."""

    def spoil():
        owner, name = STEPS[step]
        original, grader, calls = getattr(owner, name), os.getpid(), itertools.count(1)

        def spoiled(*arguments, **options):
            if os.getpid() == grader and next(calls) == number:
                act()
            return original(*arguments, **options)

        setattr(owner, name, spoiled)

    return spoil


def is_there_process(process):
    try:
        with open(f"/proc/{process}/stat") as status:
            return status.read().rpartition(") ")[2][0] != "Z"  # an ended one that nobody asked about yet
    except OSError:
        return False
