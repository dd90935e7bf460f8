"""The warm process starts whatever a library leaves running: a process with two threads is never forked.

The threads are started by libraries that stand for others: torch's build for GPUs starts some in its first
backward pass where a driver is installed, OpenMP and monitors do so when they are imported.
"""

import os
from contextlib import contextmanager, nullcontext

import pytest
from grading import NAME, RIGHT, new_course, released

from autograder.grade import grade
from autograder.grading import pool
from autograder.isolation import IsolationUnavailable, Warm, choose, warm
from autograder.isolation.warm_up import modules_of
from autograder.source.sample_submissions import answered, hand_in

A_THREAD = """
import ctypes, threading

def start_a_thread(name):
    libc = ctypes.CDLL(None)
    thread = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(thread), None, libc.pause, None)
    libc.pthread_setname_np(thread, name)
"""

IN_BACKWARD = """
import torch
from a_thread import start_a_thread

def backward(self, *arguments, **options):
    global started
    if not started:
        started = True
        start_a_thread(b"cuda00001400006")
    return before(self, *arguments, **options)

before, started = torch.Tensor.backward, False
torch.Tensor.backward = backward
"""

LIBRARIES = {
    "a_thread": A_THREAD,
    "in_backward": IN_BACKWARD,
    "at_import": "from a_thread import start_a_thread\nstart_a_thread(b'monitor')",
    "python_thread": "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
    "uses_at_import": "import at_import",
    "short_thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(0.1,)).start()",
    "quiet": "",
}
IMPORTS = ("uses_at_import", "python_thread", "short_thread", "quiet", "in_backward")


@contextmanager
def found_by_warm_processes(folder):
    """They find these libraries, and whatever else a test lays down in the folder."""
    folder.chmod(0o755)
    for name, source in LIBRARIES.items():
        (folder / f"{name}.py").write_text(source)
    environment = warm.environment

    def with_libraries(home):
        found = environment(home)
        return found | {"PYTHONPATH": os.pathsep.join([str(folder), found["PYTHONPATH"]])}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warm, "environment", with_libraries)
        yield folder


@pytest.fixture
def libraries(tmp_path):
    with found_by_warm_processes(tmp_path) as folder:
        yield folder


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    """A warm process that was to do ahead what leaves a thread, and what does not."""
    with found_by_warm_processes(tmp_path_factory.mktemp("libraries")), Warm(choose(), imports=IMPORTS) as it:
        yield it


def test_what_leaves_a_thread_is_not_done_ahead_and_everything_else_is(process):
    at_import, of_python, in_backward = process.left_out
    assert at_import == "import uses_at_import (monitor)"
    assert of_python.startswith("import python_thread (")
    assert in_backward == "a backward pass (cuda00001400006)"
    with process.student() as student:
        there = "import sys\nprint([name for name in {} if name in sys.modules])"
        done = student.run(there.format((*IMPORTS, "course.checks"))).output
        assert done == "['short_thread', 'quiet', 'in_backward', 'course.checks']\n"
        loss = "import torch\n(2 * torch.ones(1, requires_grad=True)).backward()"
        assert student.run(loss).error is None


def test_a_submission_has_full_marks_where_a_backward_pass_leaves_a_thread(process, tmp_path, monkeypatch):
    course = new_course(tmp_path / "course")
    hand_in(course / "submitted", "ada", NAME, answered(released(course), {"moving_average": RIGHT}))

    def is_ready(warm):
        warm.level = process.level
        return nullcontext(lambda: process)

    monkeypatch.setattr(pool, "warm_meanwhile", is_ready)
    [submission] = grade(NAME, course / "submitted", root=course).submissions
    assert (submission.status, submission.points) == ("graded", submission.max_points)


def test_threads_that_are_there_from_the_start_are_named_in_the_refusal(libraries):
    (libraries / "sitecustomize.py").write_text("import at_import")
    with pytest.raises(IsolationUnavailable, match=r"leaves 1 more thread \(monitor\).*not be safe"):
        Warm(choose(), imports=()).__enter__()


def test_modules_are_found_without_being_imported(libraries):
    package = libraries / "package"
    (package / "inner").mkdir(parents=True)
    for name in ("__init__", "__main__", "one", "inner/__init__", "inner/two"):
        (package / f"{name}.py").write_text("raise AssertionError")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(libraries)
        assert modules_of("package") == ["package", "package.inner", "package.inner.two", "package.one"]
