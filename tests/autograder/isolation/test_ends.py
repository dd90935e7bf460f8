"""Every way in which a student's process can end has its sentence, at every level."""

import dataclasses
import socket

import pytest
from warm_levels import SMALL

from autograder.isolation import Died, Limits, wire
from autograder.isolation.deaths import OUT_OF_MEMORY, how_it_ended

# The connection to the grader is an open descriptor like any other: a student can write to it.
FORGE = """
import os, struct, time
def write(content):
    for descriptor in range(3, 9):
        try: os.write(descriptor, content)
        except OSError: pass
    time.sleep(9)
"""

TOO_LATE = "did not finish within 0.3 s"
ENDS = {
    "loop": ("while True: pass", TOO_LATE),
    "loop that swallows every exception": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        TOO_LATE,
    ),
    "signals ignored": (
        "import signal\nfor number in range(1, 32):\n    try: signal.signal(number, signal.SIG_IGN)\n"
        "    except OSError: pass\nwhile True: pass",
        TOO_LATE,
    ),
    "uninterruptible call": ("import ctypes\nctypes.CDLL(None).sleep(100)", TOO_LATE),
    "exit": ("import os\nos._exit(0)", "exited with status 0"),
    "exit with a status": ("import os\nos._exit(7)", "exited with status 7"),
    "segmentation fault": ("import ctypes\nctypes.string_at(0)", "crashed with a segmentation fault"),
    "abort": ("import os\nos.abort()", "aborted"),
    "killed by itself": ("import os\nos.kill(os.getpid(), 9)", "was ended by SIGKILL"),
    "endless reply": (FORGE + "write(b'\\xff' * 64)", "sent a reply of more than 4 MB"),
    "unreadable reply": (
        FORGE + "write(struct.pack('<Q', 9) + b'{' * 9)",
        "sent a reply that cannot be read",
    ),
    "reply of another form": (
        f"{FORGE}reply = {wire.encode({'value': {'error': 3}})!r}\n"
        "write(struct.pack('<Q', len(reply)) + reply)",
        "sent a reply that cannot be read",
    ),
}


@pytest.mark.parametrize(("source", "sentence"), ENDS.values(), ids=ENDS.keys())
def test_an_end_has_a_sentence_that_says_what_happened(student, source, sentence):
    with pytest.raises(Died) as died:
        student.run(source, seconds=0.3 if sentence == TOO_LATE else 9)
    assert died.value.sentence == sentence
    with pytest.raises(Died, match=sentence):
        student.request("anything")


def test_processor_time_is_limited_for_each_process(warm):
    limits = dataclasses.replace(SMALL, cpu_seconds=1)
    with warm.student(limits=limits) as student, pytest.raises(Died) as died:
        student.run("while True: pass")
    assert died.value.sentence == "used more than 1 s of processor time"


BUSY_TOGETHER = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True: pass
time.sleep(60)
"""
BUSY_ONE_AFTER_ANOTHER = """
import os, time
while True:
    child = os.fork()
    if child == 0:
        begun = time.process_time()
        while time.process_time() < begun + 0.2: pass
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.parametrize("source", [BUSY_TOGETHER, BUSY_ONE_AFTER_ANOTHER])
def test_processor_time_is_limited_for_all_processes_together(warm, source):
    limits = dataclasses.replace(SMALL, cpu_seconds=1, cell_seconds=60.0)
    with warm.student(limits=limits) as student, pytest.raises(Died) as died:
        student.run(source)
    assert died.value.sentence == "used more than 1 s of processor time"


def test_a_submission_that_nobody_asks_anything_is_ended_at_last(warm):
    limits = dataclasses.replace(SMALL, submission_seconds=0.1, patience=5.0)
    with warm.student(limits=limits) as student:
        student.run("pass")
        assert student.control.recv(1, socket.MSG_PEEK)  # its keeper's last report
        with pytest.raises(Died, match=r"was still running after 1 s"):
            student.run("pass")


def test_one_process_that_wants_too_much_memory_gets_an_error_and_lives(student):
    error = student.run("import torch\njunk = torch.ones(2**31)").error
    assert error.class_name == "RuntimeError"
    assert "can't allocate memory" in error.message
    assert student.run("junk = bytearray(8 * 2**30)").error.class_name == "MemoryError"
    assert student.run("print('alive')").output == "alive\n"


def test_several_processes_that_want_too_much_memory_together_are_ended(student):
    with pytest.raises(Died) as died:
        student.run(
            "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n"
            "        junk = bytearray(b'x') * (400 << 20)\n        time.sleep(60)\ntime.sleep(60)"
        )
    assert died.value.sentence == "used more than 600 MB of memory"


MANY_BYTES = "for i in range(40):\n    open(f'file{i}', 'wb').write(bytes(2 << 20))\n"
MANY_FILES = "for i in range(700): open(f'file{i}', 'w').close()\n"


def test_files_are_limited_in_number(student):
    with pytest.raises(Died, match="made more than 500 files"):
        student.run(MANY_FILES + "import time; time.sleep(9)")


def test_files_are_limited_in_size_by_their_file_system_or_by_looking(warm, student):
    if warm.level.name == "bwrap":
        assert "No space left on device" in student.run(MANY_BYTES).error.message
    else:
        with pytest.raises(Died, match="wrote more than 32 MB of files"):
            student.run(MANY_BYTES + "import time; time.sleep(9)")


def test_one_file_has_a_largest_size(student):
    error = student.run("open('large', 'wb').write(bytes(33 << 20))").error
    assert error.class_name == "OSError"
    assert "File too large" in error.message or "No space left" in error.message
    student.run("import time; time.sleep(1)")  # until its files have been looked at


def test_memory_is_not_counted_for_processes_that_have_ended(student):
    """Nobody but root is shown what an ended process had open until its parent asks how it ended."""
    started = "import subprocess, time\nkept = [subprocess.Popen(['true']) for _ in range(6)]\ntime.sleep(2)"
    assert student.run(started + "\nprint('alive')").output == "alive\n"


def test_a_killed_student_says_so_and_can_be_killed_twice(student):
    student.kill()
    student.kill()
    with pytest.raises(Died, match="was ended by the grader"):
        student.run("1")


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        ({"status": 31}, "made a system call that is not allowed"),
        ({"status": 15}, "was ended by SIGTERM"),
        ({"status": 9, "cpu_seconds": 200.0}, "used more than 120 s of processor time"),
        ({"status": 9, "cpu_seconds": 1.0}, "was ended by SIGKILL"),
        ({"status": 1 << 8}, "exited with status 1"),
        ({"status": OUT_OF_MEMORY << 8}, "used more than 2 GB of memory"),
        ({"status": 9, "reason": "processes"}, "started more than 64 processes and threads"),
        ({}, "was ended by the system"),
    ],
)
def test_reports_are_put_into_words(report, sentence):
    assert how_it_ended(report, Limits()) == sentence
