"""All the processes a submission has started: how much memory they hold, and their end."""

import contextlib
import os
import signal
import time
from pathlib import Path


class Tree:
    """The descendants of a process that adopts orphans (a subreaper)."""

    def __init__(self, root: int):
        self.root = root
        self.ended: dict[int, tuple[int, float]] = {}  # wait status and processor seconds of each one reaped

    def pids(self) -> list[int]:
        """Every living descendant."""
        found: list[int] = []
        waiting = [self.root]
        while waiting:
            children = children_of(waiting.pop())
            found += children
            waiting += children
        return found

    def memory(self) -> int:
        """Bytes of memory of their own, shared pages counted once per process: quick, never too little."""
        return sum(map(resident_bytes, self.pids()))

    def exact_memory(self) -> int:
        """Bytes of memory, shared pages divided among those who share them: slow."""
        return sum(map(proportional_bytes, self.pids()))

    def kill(self) -> None:
        """End every descendant, however fast they multiply: stop them all first, then kill."""
        for number in (signal.SIGSTOP, signal.SIGKILL):
            seen: set[int] = set()
            while new := [pid for pid in self.pids() if pid not in seen]:
                seen.update(new)
                for pid in new:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
        while self.pids():
            self.reap()
            time.sleep(0.001)

    def reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (end := os.wait4(-1, os.WNOHANG))[0]:
                pid, status, usage = end
                self.ended[pid] = (status, usage.ru_utime + usage.ru_stime)


def children_of(pid: int) -> list[int]:
    """The children of all of a process's threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def resident_bytes(pid: int) -> int:
    return kilobytes(Path(f"/proc/{pid}/status"), ("RssAnon:", "RssShmem:"))


def proportional_bytes(pid: int) -> int:
    return kilobytes(Path(f"/proc/{pid}/smaps_rollup"), ("Pss_Anon:", "Pss_Shmem:"))


def kilobytes(path: Path, names: tuple[str, ...]) -> int:
    """The sum of some lines of a /proc file, in bytes; 0 for a process that is gone."""
    with contextlib.suppress(OSError):
        lines = path.read_text().splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(names))
    return 0
