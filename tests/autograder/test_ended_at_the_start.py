"""Whenever a command is ended that starts other processes, it says one sentence, and leaves none of them."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from grading import NAME, new_course, solved, submit
from interrupted import is_there_process

from autograder.grading import pool
from autograder.isolation import Limits, choose, levels
from autograder.isolation.settings import DEFAULT_IMPORTS, Settings
from autograder.isolation.warm import Warm, environment

VERBS = {
    "grade": ("--submissions", "submitted"),
    "watch": (),
    "try": (),
    "verify": ("--quiet", "--seeds", "200"),  # long enough to be ended
    "serve": ("--only", "grader"),
}
LIBRARY = "libtorch_python"  # mapped while torch is imported, and from then on
# Seconds after that: in the middle of the import, and while a warm process or a pool starts.
LATER = (0.0, 0.6)
MOST_SECONDS = 20.0


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("ended") / "course")
    submit(course, "ada", solved(course))
    return course


def started(course, verb):
    """A command as a terminal starts it, in a process group of its own."""
    notebook = f"submitted/ada/{NAME}/{NAME}.ipynb"
    what = {"watch": "submitted", "try": notebook}.get(verb, NAME)
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", verb, what, *VERBS[verb]],
        cwd=course,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_library(process):
    """Until a command has begun to import torch; how long that takes depends on the machine."""
    maps = Path(f"/proc/{process.pid}/maps")
    while process.poll() is None and LIBRARY not in maps.read_text():
        time.sleep(0.001)


def processes_of(course):
    """The processes that work in the course's folder."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{process}/cwd") == str(course):
                found.append(int(process))
        except OSError:
            continue
    return [process for process in found if is_there_process(process)]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", VERBS)
def test_it_ends_in_one_sentence_with_the_signals_status(course, verb, number, later):
    with started(course, verb) as process:
        wait_for_library(process)
        time.sleep(later)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # Ctrl-C reaches everything that the terminal started
        else:
            process.send_signal(number)  # a service manager names one process
        _, errors = process.communicate(timeout=MOST_SECONDS)
    assert errors.strip().splitlines() == [f"autograder {verb}: stopped; what was finished is kept."]
    # Python ends itself by the signal if it interrupted an `exec`; a shell shows both alike
    assert process.returncode in (128 + number, -number)
    assert processes_of(course) == []


def test_a_warm_process_whose_grader_was_killed_ends_without_a_word(tmp_path):
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [*Warm.program, str(theirs.fileno()), Settings(DEFAULT_IMPORTS).as_text()],
            pass_fds=[theirs.fileno()],
            env=environment(str(tmp_path)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    ours.close()
    said, _ = process.communicate(timeout=300)
    assert (process.returncode, said) == (0, b"")


class Endless(Warm):
    """Never ready."""

    program = (sys.executable, "-c", "import time; time.sleep(600)")


def test_a_warm_process_that_is_not_wanted_is_not_waited_for(monkeypatch):
    begun = time.monotonic()
    with suppress(KeyboardInterrupt), pool.warm_meanwhile(Endless(choose("best"), Limits())):
        raise KeyboardInterrupt
    assert time.monotonic() - begun < MOST_SECONDS


def test_an_interrupted_trial_of_a_sandbox_undoes_nothing_of_its_parents(monkeypatch):
    """Ctrl-C reaches the trial's process too, which is a fork inside the parent's open folders."""

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        raise KeyboardInterrupt

    monkeypatch.setattr(levels, "trial_problem", interrupted)
    parent = os.getpid()
    try:
        levels.attempt("landlock")  # its folders are still there to be removed
    finally:
        assert os.getpid() == parent, "the trial went on in its parent's place"
