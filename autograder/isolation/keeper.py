"""One process beside each submission: makes its sandbox, watches it, ends it and says why it ended."""

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

from autograder.isolation import channel, confinement, kernel, landlock, seccomp
from autograder.isolation.limits import Limits
from autograder.isolation.room import DEVICES, FACTS, SETTINGS, Room, allow_list
from autograder.isolation.tree import Tree

WATCH_SECONDS = 0.05


class Keeper:
    """Runs in a fork of the zygote; the student's process is a fork of it."""

    def __init__(self, level: str, limits: Limits, room: Room, shell: "Shell"):
        self.level = level
        self.limits = limits
        self.room = room
        self.shell = shell

    def run(self, control: int, connection: int) -> NoReturn:
        """Keep one submission from its first byte to its last, then leave."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        grader = socket.socket(fileno=control)
        try:
            self.keep(grader, connection)
        except BaseException as error:
            tell(grader, {"problem": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(0)

    def keep(self, grader: socket.socket, connection: int) -> None:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        home = Path(tempfile.mkdtemp(prefix="submission-"))
        student = os.fork()
        if student == 0:
            self.become_student(connection, home)
        os.close(connection)
        tree = Tree(os.getpid())
        try:
            reason = self.watch(grader, student, tree)
        finally:
            tree.kill()
            shutil.rmtree(home, ignore_errors=True)
        status, seconds = tree.ended[student]
        tell(grader, {"status": status, "cpu_seconds": seconds, "reason": reason})

    def watch(self, grader: socket.socket, student: int, tree: Tree) -> str:
        """Wait until the student's process ends or has to be ended; why."""
        deadline = time.monotonic() + self.limits.submission_seconds
        pidfd = os.pidfd_open(student)
        allowed = tree.memory() + self.limits.memory_bytes
        while True:
            ready, _, _ = select.select([grader, pidfd], [], [], WATCH_SECONDS)
            if pidfd in ready:
                return "ended"
            if ready:
                return "hung up"
            if time.monotonic() > deadline:
                return "submission_seconds"
            if tree.memory() > allowed and tree.exact_memory() > allowed:
                return "memory_bytes"

    def become_student(self, connection: int, home: Path) -> NoReturn:
        """Give up everything, then answer the grader."""
        try:
            self.confine(connection, home)
            self.answer(connection, home / "work")
        except BaseException as error:
            print(f"the student's process failed to start: {error}", file=sys.stderr)
            os._exit(70)
        os._exit(0)

    def confine(self, connection: int, home: Path) -> None:
        os.setsid()
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        confinement.close_all_but({2, connection})
        for name in ("work", "tmp"):
            (home / name).mkdir()
        os.chdir(home / "work")
        os.environ.clear()
        os.environ.update(environment(home))
        tempfile.tempdir = None
        confinement.forbid_new_privileges()
        if self.level == "landlock":
            self.confine_by_landlock(home)
        confinement.silence()

    def confine_by_landlock(self, home: Path) -> None:
        readable, listable = allow_list(self.room)
        signal_scope = landlock.version() >= 6
        filter_program = seccomp.program(seccomp.Strictness(namespaces=False, signal_scope=signal_scope))
        confinement.limit_resources(self.limits, processes=None)
        landlock.restrict([*readable, *SETTINGS, *DEVICES, *FACTS], listable, [home, Path("/dev/null")])
        seccomp.install(filter_program)
        confinement.verify_powerless()

    def answer(self, connection: int, work: Path) -> None:
        from autograder.isolation.session import Session

        gc.enable()
        sys.path.insert(0, "")
        Session(self.shell, self.limits, work).serve(socket.socket(fileno=connection))


def environment(home: Path) -> dict[str, str]:
    """All the environment variables a submission has."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": str(home / "tmp"),
        "IPYTHONDIR": str(home / "tmp"),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def tell(grader: socket.socket, report: dict) -> None:
    """Say how it ended, if anyone still listens."""
    with contextlib.suppress(OSError):
        channel.send(grader, json.dumps(report).encode())
