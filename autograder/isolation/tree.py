"""All processes that a submission has started: how many, how much memory they hold, and how they end."""

import contextlib
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

# In memory, and on a disk, to which a process may request that its memory be moved.
HELD = ("RssAnon", "RssShmem", "VmSwap")
SHARED = ("Pss_Anon", "Pss_Shmem", "SwapPss")
MOST_DESCRIPTORS = 256  # of one process


class Holder(Protocol):
    """Ends a sandbox as a whole."""

    def kill(self) -> None: ...


class Tree:
    """A submission's processes; subclasses know how to find and how to end them."""

    def __init__(self) -> None:
        self.ended: dict[int, tuple[int, float]] = {}  # wait status and processor seconds of each one reaped

    def pids(self) -> list[int]:
        """Every living process."""
        raise NotImplementedError

    def kill(self) -> None:
        """End every process; returns when none is left."""
        raise NotImplementedError

    def census(self) -> tuple[int, int]:
        """How many threads, and bytes of memory with shared pages counted in each process: never too few."""
        threads = memory = 0
        for pid in self.pids():
            status = status_of(pid)
            threads += status.get("Threads", 0)
            memory += sum(status.get(kind, 0) for kind in HELD)
        return threads, memory << 10

    def exact_memory(self) -> int:
        """Bytes of memory, with shared pages divided among the processes that share them; slow."""
        return sum(map(proportional_kilobytes, self.pids())) << 10

    def sockets(self) -> int:
        """How many sockets they hold; the most they could hold, if they cannot be inspected."""
        found: set[str] = set()
        hidden = 0
        for task in itertools.chain(*map(tasks_of, self.pids())):  # each thread may have its own descriptors
            try:
                found.update(links_of(task / "fd"))
            except PermissionError:
                hidden += MOST_DESCRIPTORS if has_memory(task) else 0
        return len(found) + hidden

    def reap(self) -> None:
        """Record how processes ended."""
        with contextlib.suppress(ChildProcessError):
            while (end := os.wait4(-1, os.WNOHANG))[0]:
                pid, status, usage = end
                self.ended[pid] = (status, usage.ru_utime + usage.ru_stime)


class Descendants(Tree):
    """The descendants of a process that adopts orphans (a subreaper)."""

    def __init__(self, root: int):
        super().__init__()
        self.root = root

    def pids(self) -> list[int]:
        found: list[int] = []
        waiting = [self.root]
        while waiting:
            children = children_of(waiting.pop())
            found += children
            waiting += children
        return found

    def kill(self) -> None:
        """End them a process group at a time, however fast they multiply or follow one another.

        The kernel starts no process of a group while it signals that group, so none slips through. A group's
        number is given to nobody else while a process of it, even an ended one, is among those found here.
        """
        while found := self.pids():
            for pid in found:
                # macOS permits no signal to a group of which all processes have ended
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill_group_of(pid)
            self.reap()
            time.sleep(0.001)


class Inhabitants(Tree):
    """The processes of a pid namespace whose /proc this process sees."""

    def __init__(self, holder: Holder):
        super().__init__()
        self.holder = holder

    def pids(self) -> list[int]:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]

    def kill(self) -> None:
        self.holder.kill()
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, 0)
                self.ended[pid] = (status, usage.ru_utime + usage.ru_stime)


def kill_group_of(pid: int) -> None:
    """Kill a process and all of its group; only itself while it is in the group of this process."""
    group = os.getpgid(pid)
    if group == os.getpgrp():
        os.kill(pid, signal.SIGKILL)
    else:
        os.killpg(group, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    """The child processes of all threads of a process."""
    found: list[int] = []
    if not Path("/proc/thread-self/children").exists():
        return children_by_ps(pid)
    with contextlib.suppress(OSError):
        for task in tasks_of(pid):
            found += map(int, (task / "children").read_text().split())
    return found


def tasks_of(pid: int) -> list[Path]:
    """The directories in /proc of a process's threads."""
    with contextlib.suppress(OSError):
        return list(Path(f"/proc/{pid}/task").iterdir())
    return []


def status_of(pid: int) -> dict[str, int]:
    """The numbers of /proc/PID/status; if the first thread has ended, those of a living one."""
    status = fields_of(Path(f"/proc/{pid}/status"))
    if "RssAnon" in status or status.get("Threads", 0) < 2:
        return status
    return next(
        (found for task in tasks_of(pid) if "RssAnon" in (found := fields_of(task / "status"))), status
    )


def has_memory(task: Path) -> bool:
    """Whether a thread has not ended; /proc lets nobody but root inspect one that has."""
    return "VmSize" in fields_of(task / "status")


def links_of(descriptors: Path) -> Iterator[str]:
    """The sockets among a thread's open descriptors; raises PermissionError if these cannot be seen."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for descriptor in os.listdir(descriptors):
            with contextlib.suppress(FileNotFoundError):
                if (link := os.readlink(descriptors / descriptor)).startswith("socket:"):
                    yield link


def children_by_ps(pid: int) -> list[int]:
    """The child processes according to `ps`, where there is no /proc."""
    listing = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
    pairs = (map(int, line.split()) for line in listing.splitlines())
    return [child for child, parent in pairs if parent == pid]


def proportional_kilobytes(pid: int) -> int:
    """A process's proportional share of memory, or all of its memory if the share is hidden."""
    share = fields_of(Path(f"/proc/{pid}/smaps_rollup"))
    if "Pss_Anon" in share:
        return sum(share.get(kind, 0) for kind in SHARED)
    whole = status_of(pid)
    return sum(whole.get(kind, 0) for kind in HELD)


def fields_of(path: Path) -> dict[str, int]:
    """The numbers in a /proc file of lines like "RssAnon: 12 kB"; none if the process is gone.

    One line holds the name that the process gave itself, any bytes; the kernel escapes only its line feeds.
    """
    fields: dict[str, int] = {}
    with contextlib.suppress(OSError):
        for line in path.read_bytes().decode(errors="replace").split("\n"):
            name, _, value = line.partition(":")
            number = value.split()[0] if value.strip() else ""
            if number.isdigit():
                fields[name] = int(number)
    return fields
