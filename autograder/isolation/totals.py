"""Limits on a submission as a whole, which limits on single processes cannot enforce."""

import contextlib
import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.isolation.limits import Limits
from autograder.isolation.sandboxes import Sandbox
from autograder.isolation.tree import has_memory, tasks_of

ROUNDS_PER_LOOK_AT_FILES = 10
BYTES_OF_A_SOCKET = 2 << 20  # of data in transit that the kernel buffers, generously
SHARED_MEMORY = Path("/dev/shm")


class Totals:
    """Checks from time to time whether all processes together are within the limits."""

    def __init__(self, sandbox: Sandbox, limits: Limits):
        self.sandbox = sandbox
        self.limits = limits
        _, born_with = sandbox.tree.census()
        self.most_memory = born_with + limits.memory_bytes
        self.rounds = 0
        self.on_its_way = 0  # bytes in transit, in the kernel
        self.free = self.free_bytes()

    def exceeded(self) -> str | None:
        """The limit that is exceeded, if any."""
        self.rounds += 1
        threads, memory = self.sandbox.tree.census()
        if threads > self.limits.processes + self.sandbox.own_processes:
            return "processes"
        if self.rounds % ROUNDS_PER_LOOK_AT_FILES == 0:
            self.on_its_way = BYTES_OF_A_SOCKET * self.sandbox.tree.sockets()
        most = self.most_memory - self.on_its_way
        if memory > most and self.sandbox.tree.exact_memory() > most:
            return "memory_bytes"
        if self.rounds % ROUNDS_PER_LOOK_AT_FILES == 0 or self.disk_fills():
            processes = () if self.sandbox.capped else self.sandbox.tree.pids()
            return files_exceed(self.sandbox.writable, processes, self.limits)
        return None

    def disk_fills(self) -> bool:
        """Whether so much was written since the last check, by anyone, that it is time for another."""
        before, self.free = self.free, self.free_bytes()
        return before - self.free > self.limits.file_bytes / ROUNDS_PER_LOOK_AT_FILES

    def free_bytes(self) -> int:
        """The free bytes where the submission may write."""
        with contextlib.suppress(OSError):
            places = map(os.statvfs, self.sandbox.writable)
            return sum(place.f_bavail * place.f_frsize for place in places)
        return 0


def files_exceed(directories: tuple[Path, ...], processes: Iterable[int], limits: Limits) -> str | None:
    """The limit exceeded by files in these directories and by removed files still in use, if any."""
    files = total = 0
    try:
        for status in itertools.chain(
            *map(statuses_below, directories), removed_files(processes, directories)
        ):
            files, total = files + 1, total + status.st_blocks * 512
            if files > limits.files:
                return "files"
            if total > limits.file_bytes:
                return "file_bytes"
    except OSError:  # closed to the keeper, or too deep for a path: never by accident
        return "hidden_files"
    return None


def removed_files(processes: Iterable[int], directories: tuple[Path, ...]) -> Iterator[os.stat_result]:
    """The status of every removed file that these processes hold open, once each.

    Raises PermissionError if a process cannot be inspected, or maps a removed file without holding it open,
    so that its size cannot be known.
    """
    held: dict[tuple[int, int], os.stat_result] = {}
    mapped: set[int] = set()
    for task in itertools.chain(*map(tasks_of, processes)):  # each thread may have its own descriptors
        try:
            held.update(held_and_removed(task))
            mapped |= mapped_and_removed(task, directories)
        except PermissionError:
            if has_memory(task):
                raise
        except (FileNotFoundError, ProcessLookupError):
            continue
    if mapped - {inode for _, inode in held}:
        raise PermissionError("a removed file is mapped and not open")
    yield from held.values()


def held_and_removed(task: Path) -> Iterator[tuple[tuple[int, int], os.stat_result]]:
    """The device and inode, and the status, of the removed files that a thread holds open."""
    for descriptor in os.listdir(task / "fd"):
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(task / "fd" / descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                yield (status.st_dev, status.st_ino), status


def mapped_and_removed(task: Path, directories: tuple[Path, ...]) -> set[int]:
    """The inodes of removed files of these directories that a thread maps; semaphores are such files."""
    inodes = set()
    text = (task / "maps").read_bytes().decode(errors="replace")
    for line in text.split("\n"):  # the kernel escapes only line feeds in names
        if line.endswith(" (deleted)"):
            *_, inode, path = line.split(maxsplit=5)
            if any(Path(path).is_relative_to(place) for place in directories if place != SHARED_MEMORY):
                inodes.add(int(inode))
    return inodes


def statuses_below(directory: Path) -> Iterator[os.stat_result]:
    """The status of everything in a directory on the same file system; links are not followed.

    Raises OSError if a directory cannot be read; files that disappear meanwhile are left out.
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
