"""Limits on a submission as a whole, which no limit of a single process can keep."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from autograder.isolation.limits import Limits
from autograder.isolation.sandboxes import Sandbox

ROUNDS_PER_LOOK_AT_FILES = 10


class Totals:
    """Looks from time to time whether all processes together still keep within the limits."""

    def __init__(self, sandbox: Sandbox, limits: Limits):
        self.sandbox = sandbox
        self.limits = limits
        _, born_with = sandbox.tree.census()
        self.most_memory = born_with + limits.memory_bytes
        self.rounds = 0

    def exceeded(self) -> str | None:
        """The limit that is exceeded, if one is."""
        self.rounds += 1
        threads, memory = self.sandbox.tree.census()
        if threads > self.limits.processes + self.sandbox.own_processes:
            return "processes"
        if memory > self.most_memory and self.sandbox.tree.exact_memory() > self.most_memory:
            return "memory_bytes"
        if self.rounds % ROUNDS_PER_LOOK_AT_FILES == 0:
            return files_exceed(self.sandbox.writable, self.limits)
        return None


def files_exceed(directories: tuple[Path, ...], limits: Limits) -> str | None:
    """The limit exceeded by what lies in these directories; stops counting when it knows."""
    files = total = 0
    for directory in directories:
        try:
            for status in statuses_below(directory):
                files, total = files + 1, total + status.st_blocks * 512
                if files > limits.files:
                    return "files"
                if total > limits.file_bytes:
                    return "file_bytes"
        except OSError:  # closed to the keeper, or too deep for a path: nobody does that by accident
            return "hidden_files"
    return None


def statuses_below(directory: Path) -> Iterator[os.stat_result]:
    """The status of everything in a directory that lies on its own file system; links are not followed.

    Raises OSError where a directory cannot be looked into; what disappears meanwhile is left out.
    """
    device = os.stat(directory).st_dev
    waiting = [str(directory)]
    while waiting:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    if status.st_dev == device:
                        waiting += [entry.path] if stat.S_ISDIR(status.st_mode) else []
                        yield status
