"""The grader's side of the warm process: start it once, and get fresh student processes from it."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.isolation import channel
from autograder.isolation.files import regular_files
from autograder.isolation.levels import Level
from autograder.isolation.limits import Limits
from autograder.isolation.results import IsolationUnavailable
from autograder.isolation.room import student_room
from autograder.isolation.settings import DEFAULT_IMPORTS, Settings

if TYPE_CHECKING:
    from autograder.isolation.student import Student

START_SECONDS = 900.0  # a cold disk, a very busy machine
FAREWELL_SECONDS = 5.0  # to end what students' processes left behind
MAX_REPORT = 1 << 16
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "COURSE_CACHE")


class Warm:
    """A process that has torch imported and forks a sandboxed process per submission; a context manager.

    Forks of the process that started it may use it, too, but only that process ends it.
    level: or a function that finds it, which is called while the process imports.
    Raises IsolationUnavailable if it cannot start.
    """

    program = (sys.executable, "-m", "autograder.isolation")

    def __init__(
        self,
        level: Level | Callable[[], Level],
        limits: Limits | None = None,
        imports: tuple[str, ...] = DEFAULT_IMPORTS,
    ):
        self.find_level = level if callable(level) else lambda: level
        self.limits = limits or Limits()
        self.imports = imports
        self.is_started = False
        self.is_ready = False
        self.is_unwanted = False

    def start(self) -> None:
        """Start the process without waiting for it; raises IsolationUnavailable if no level works."""
        self.home = tempfile.TemporaryDirectory(prefix="warm-")
        self.connection, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [*self.program, str(theirs.fileno()), Settings(self.imports).as_text()],
            pass_fds=[theirs.fileno()],
            env=environment(self.home.name),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self.owner = os.getpid()
        self.is_started = True
        try:
            self.level = self.find_level()
            for text in (self.level.name, student_room().as_text()):
                with contextlib.suppress(OSError):  # if it has ended, there will be no greeting either
                    channel.send(self.connection, text.encode())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Warm":
        if not self.is_started:
            self.start()
        if self.is_unwanted:
            self.hang_up()
        try:
            greeting = self.greeting()
            self.uid, self.left_out = greeting["uid"], greeting["left_out"]
            self.is_ready = True
        except BaseException:
            self.close()
            raise
        return self

    def not_wanted(self) -> None:
        """In another thread than the one that waits for its start: end it now, which that thread notices."""
        self.is_unwanted = True  # first: it may not be connected yet
        if hasattr(self, "connection"):
            self.hang_up()

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):  # it may have been closed meanwhile
            self.connection.shutdown(socket.SHUT_RDWR)

    def greeting(self) -> dict:
        """The message of the zygote when it is ready."""
        deadline = time.monotonic() + START_SECONDS
        try:
            greeting = json.loads(channel.receive(self.connection, MAX_REPORT, deadline))
        except (EOFError, TimeoutError):
            raise IsolationUnavailable("the warm process did not start; its errors are above") from None
        if "problem" in greeting:
            raise IsolationUnavailable(greeting["problem"])
        return greeting

    def student(self, files: Path | None = None, limits: Limits | None = None) -> "Student":
        """A fresh sandboxed process; it finds the regular files of `files` in its work directory.

        limits: instead of the warm process's own.
        Raises IsolationUnavailable if the warm process has ended, ValueError if the files are too large.
        """
        from autograder.isolation.student import Student  # imports torch, which this module does not need

        limits = limits or self.limits
        accompanying = regular_files(files, limits.file_bytes)
        control, their_control = socket.socketpair()
        connection, theirs = channel.pair()
        with their_control:
            try:
                socket.send_fds(self.connection, [b"s"], [their_control.fileno(), *theirs])
            except OSError as error:
                raise IsolationUnavailable(f"the warm process is gone: {error}") from None
            finally:
                for descriptor in theirs:
                    os.close(descriptor)
        channel.send(control, limits.as_text().encode())
        return Student(control, connection, limits, accompanying)

    def close(self) -> None:
        """End the warm process and, if this process started it, every remaining student process.

        Disconnected, it ends by itself what keepers left behind that were killed; nobody could do it later.
        """
        self.connection.close()
        if self.owner == os.getpid():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(FAREWELL_SECONDS if self.is_ready else 0.0)
            self.process.kill()
            self.process.wait()
            self.home.cleanup()

    def __exit__(self, *exception: object) -> None:
        self.close()


def environment(home: str) -> dict[str, str]:
    """The environment of the warm process: variables chosen by name, so no token gets in."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    packages = Path(__file__).resolve().parents[2]
    return {
        **kept,
        **threads,
        "HOME": home,
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),  # of fonts
        "PYTHONPATH": str(packages),
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
