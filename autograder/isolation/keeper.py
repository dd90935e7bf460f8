"""One process beside each submission: makes its sandbox, watches it, ends it and says why it ended."""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

from autograder.isolation import channel, confinement
from autograder.isolation.cells import Shell
from autograder.isolation.limits import Limits
from autograder.isolation.sandboxes import Sandbox
from autograder.isolation.session import Session
from autograder.isolation.totals import Totals

WATCH_SECONDS = 0.05
MAX_ORDER = 1 << 16


class Keeper:
    """Runs in a fork of the zygote; the student's process is a fork of it."""

    def __init__(self, sandbox: Sandbox, shell: Shell):
        self.sandbox = sandbox
        self.shell = shell

    def run(self, listener: socket.socket, control: int, connection: int) -> NoReturn:
        """Keep one submission from its first byte to its last, then leave."""
        listener.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.zygote = pidfds(os.getppid())
        grader = socket.socket(fileno=control)
        try:
            tell(grader, self.keep(grader, connection))
        except BaseException as error:
            tell(grader, {"problem": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(0)

    def keep(self, grader: socket.socket, connection: int) -> dict:
        """Start the student's process, wait for its end; how it ended."""
        self.limits = Limits.from_text(channel.receive(grader, MAX_ORDER))
        deadline = time.monotonic() + self.limits.submission_seconds
        home = self.sandbox.open(self.limits)
        settle(home)
        student = os.fork()
        if student == 0:
            self.become_student(connection, home)
        os.close(connection)
        try:
            reason = self.watch(grader, student, deadline)
        finally:
            self.sandbox.tree.kill()
            self.sandbox.close()
        status, seconds = self.sandbox.tree.ended[student]
        return {"status": status, "cpu_seconds": seconds, "reason": reason}

    def watch(self, grader: socket.socket, student: int, deadline: float) -> str:
        """Wait until the student's process ends or has to be ended; why."""
        tree, totals = self.sandbox.tree, Totals(self.sandbox, self.limits)
        awaited = [grader, *self.zygote, *pidfds(student)]
        while True:
            ready, _, _ = select.select(awaited, [], [], WATCH_SECONDS)
            tree.reap()
            if student in tree.ended:
                return "ended"
            if grader in ready or set(self.zygote) & set(ready):
                return "hung up"
            if time.monotonic() > deadline:
                return "submission_seconds"
            if exceeded := totals.exceeded():
                return exceeded

    def become_student(self, connection: int, home: Path) -> NoReturn:
        """Give up everything, then answer the grader."""
        try:
            os.setsid()
            confinement.die_with_parent()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            confinement.close_all_but({2, connection})
            self.sandbox.confine()
            confinement.silence()
            self.answer(connection, home / "work")
        except BaseException as error:
            print(f"the student's process failed to start: {error}", file=sys.stderr)
            os._exit(70)
        os._exit(0)

    def answer(self, connection: int, work: Path) -> None:
        gc.enable()
        sys.path.insert(0, "")
        Session(self.shell, self.limits, work).serve(socket.socket(fileno=connection))


def pidfds(process: int) -> list[int]:
    """A descriptor that becomes readable when the process ends, where the system has such a thing."""
    return [os.pidfd_open(process)] if hasattr(os, "pidfd_open") else []


def settle(home: Path) -> None:
    """Make a work directory, go there, and forget the environment."""
    for name in ("work", "tmp"):
        (home / name).mkdir()
    os.chdir(home / "work")
    tempfile.tempdir = None
    os.environ.clear()
    os.environ.update(
        PATH="/usr/local/bin:/usr/bin:/bin",
        HOME=str(home),
        TMPDIR=str(home / "tmp"),
        LANG="C.UTF-8",
        MPLBACKEND="module://matplotlib_inline.backend_inline",
        MPLCONFIGDIR=str(home / "tmp"),
        IPYTHONDIR=str(home / "tmp"),
        OMP_NUM_THREADS="1",
        PYTHONDONTWRITEBYTECODE="1",
    )


def tell(grader: socket.socket, report: dict) -> None:
    """Say how it ended, if anyone still listens."""
    with contextlib.suppress(OSError):
        channel.send(grader, json.dumps(report).encode())
