"""What is left of submissions on this machine."""

import os
import time
from pathlib import Path

from autograder.isolation.tree import children_of


def processes_with(argument):
    """The processes of this machine that have an argument."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except OSError:
            continue
        if argument.encode() in words:
            found.append(int(process.parent.name))
    return found


def none_with(argument):
    """Whether no process has an argument; of programs that start one another, one look may see none."""
    return not any(processes_with(argument) for _ in range(20))


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds


def unique_seconds():
    """A time to sleep that no other process sleeps, to know one's own by."""
    return f"{3600 + os.getpid() % 1000}.{time.monotonic_ns()}"


def left_over(warm):
    """What is left of submissions: keepers, and what has the warm process's directory in its environment."""
    return (set(children_of(warm.process.pid)) | at_home_in(warm.home.name)) - {warm.process.pid}


def at_home_in(directory):
    """The processes that have a directory in their environment."""
    return {int(path.name) for path in Path("/proc").glob("[0-9]*") if directory in environment(path)}


def environment(process):
    try:
        return (process / "environ").read_text(errors="replace")
    except OSError:
        return ""
