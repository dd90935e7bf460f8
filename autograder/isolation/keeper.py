"""The supervisor of one submission: builds its sandbox, watches it, ends it and reports why it ended."""

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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from autograder.isolation import channel, confinement
from autograder.isolation.cells import Shell
from autograder.isolation.clock import Clock
from autograder.isolation.deaths import OUT_OF_MEMORY
from autograder.isolation.limits import Limits
from autograder.isolation.sandboxes import Sandbox
from autograder.isolation.totals import Totals

WATCH_SECONDS = 0.05
LOOK_AT_TIMES_SECONDS = 0.25
NICENESS = 5  # below judges, whose submissions wait for them
MAX_ORDER = 1 << 16


class Keeper:
    """Runs in a fork of the zygote; the student's process is a fork of it."""

    def __init__(self, sandbox: Sandbox, shell: Shell, session: Callable[[Shell, Limits, Path], Any]):
        self.sandbox = sandbox
        self.shell = shell
        self.session = session  # a session.Session from modules that student code cannot reach

    def run(self, listener: socket.socket, control: int, *connection: int) -> NoReturn:
        """Supervise one submission from start to end, then exit.

        connection: the descriptors from which the student's process reads, and to which it writes.
        """
        listener.close()
        confinement.die_first()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        zygote, grader = pidfds(os.getppid()), socket.socket(fileno=control)
        try:
            limits = Limits.from_text(channel.receive(grader, MAX_ORDER))
            tell(grader, self.keep(grader, zygote, connection, limits))
        except BaseException as error:
            tell(grader, {"problem": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(0)

    def keep(
        self, grader: socket.socket, zygote: list[int], connection: Sequence[int], limits: Limits
    ) -> dict:
        """Start the student's process and wait for its end; returns how it ended, and the time it took.

        zygote: descriptors that become readable when the warm process has ended.
        """
        home = self.sandbox.open(limits)
        settle(home, self.sandbox.room.data)
        student = os.fork()
        if student == 0:
            self.become_student(connection, home, limits)
        for descriptor in connection:
            os.close(descriptor)
        clock = Clock(self.sandbox.tree)
        try:
            reason = self.watch(grader, zygote, student, Totals(self.sandbox, limits), clock)
            spent = clock.since(0.0)
        finally:
            self.sandbox.tree.kill()
            self.sandbox.close()
        status, seconds = self.sandbox.tree.ended[student]
        return {"status": status, "cpu_seconds": seconds, "reason": reason, **spent._asdict()}

    def watch(
        self, grader: socket.socket, zygote: list[int], student: int, totals: Totals, clock: Clock
    ) -> str:
        """Wait until the process ends or must be ended; returns why. Reports times when asked."""
        tree, limits = self.sandbox.tree, totals.limits
        awaited: list[socket.socket | int] = [grader, *zygote, *pidfds(student)]
        deadline = time.monotonic() + limits.lifetime
        while True:
            ready, _, _ = select.select(awaited, [], [], WATCH_SECONDS)
            tree.reap()
            if student in tree.ended:
                return "ended"
            if any(end in ready for end in zygote):
                return "hung up"
            if grader in ready:
                try:
                    answer(grader, clock)
                except (EOFError, OSError):
                    return "hung up"
            if (now := time.monotonic()) > deadline:
                return "lifetime"
            if now > clock.last.at + LOOK_AT_TIMES_SECONDS and clock.look().used > limits.cpu_seconds:
                return "cpu_seconds"
            if exceeded := totals.exceeded():
                return exceeded

    def become_student(self, connection: Sequence[int], home: Path, limits: Limits) -> NoReturn:
        """Give up all rights, then answer the grader."""
        try:
            os.setsid()
            os.nice(NICENESS)
            confinement.die_with_parent()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            confinement.close_all_but({2, *connection})
            self.sandbox.confine()
            confinement.silence()
            gc.enable()
            sys.path.insert(0, "")
            self.session(self.shell, limits, home / "work").serve(*connection)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except BaseException as error:
            print(f"the student's process failed to start: {error}", file=sys.stderr)
            os._exit(70)
        os._exit(0)


def answer(grader: socket.socket, clock: Clock) -> None:
    """Tell the grader the time spent since a given moment; raises EOFError when the grader disconnects."""
    moment = json.loads(channel.receive(grader, MAX_ORDER))["since"]
    channel.send(grader, json.dumps(clock.since(moment)._asdict()).encode())


def pidfds(process: int) -> list[int]:
    """A descriptor that becomes readable when the process ends, where the system has pidfds."""
    return [os.pidfd_open(process)] if hasattr(os, "pidfd_open") else []


def settle(home: Path, data: Path | None) -> None:
    """Make a work directory, enter it, and clear the environment."""
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
    if data is not None:
        os.environ["COURSE_CACHE"] = str(data)


def tell(grader: socket.socket, report: dict) -> None:
    """Report how the submission ended, if the grader is still connected."""
    with contextlib.suppress(OSError):
        channel.send(grader, json.dumps(report).encode())
