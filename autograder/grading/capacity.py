"""How much of this machine may be used, and therefore how many submissions are judged at once.

What a container, a batch system or `taskset` allows is often less than what the machine has.
https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.isolation.limits import Limits, in_words

KILOBYTE = 1 << 10


@dataclass(frozen=True)
class Capacity:
    """Processors and memory, as far as the system reports them; None where it sets no limit."""

    cores: int
    allowed: int  # of them, by the affinity of this process
    quota: float | None = None  # processors' worth of time that its control groups allow
    free_bytes: int | None = None  # of memory
    most_bytes: int | None = None  # that its control groups allow

    @property
    def processors(self) -> int:
        """How many processors can be kept busy."""
        return max(1, min(self.allowed, round(self.quota) if self.quota else self.allowed))

    @property
    def memory_bytes(self) -> int | None:
        """How much memory there is for the students' processes."""
        return min(filter(None, (self.free_bytes, self.most_bytes)), default=None)

    def jobs(self, limits: Limits) -> int:
        """One for each processor, or fewer if memory would not suffice for the students' processes."""
        if self.memory_bytes is None:
            return self.processors
        return max(1, min(self.processors, self.memory_bytes // limits.memory_bytes))

    def in_words(self, limits: Limits) -> list[str]:
        """The findings, one per line."""
        lines = [f"{self.cores} cores, {self.allowed} of which may be used"]
        if self.quota is not None:
            lines.append(f"control groups allow the time of {self.quota:g} cores")
        if self.free_bytes is not None:
            lines.append(f"{in_words(self.free_bytes)} of memory are free")
        if self.most_bytes is not None:
            lines.append(f"control groups allow {in_words(self.most_bytes)} of memory")
        return [*lines, f"{self.jobs(limits)} submissions are judged at once"]


def capacity_here(root: Path = Path("/"), allowed: int | None = None) -> Capacity:
    """What may be used here. root: where its /proc and /sys are; allowed: what its affinity would be."""
    cores = os.cpu_count() or 1
    if allowed is None:
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    quotas = [quota for folder in control_groups(root, "cpu") if (quota := quota_of(folder)) is not None]
    most = [size for folder in control_groups(root, "memory") if (size := memory_of(folder)) is not None]
    free, whole = memory_fields(root)
    return Capacity(
        cores,
        allowed,
        min(quotas, default=None),
        free,
        min((size for size in most if whole is None or size < whole), default=None),
    )


def control_groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's control groups, each followed by its parents."""
    mount = root / "sys/fs/cgroup"
    for line in lines_of(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            bases = [mount, mount / "unified"]
        else:
            bases = [mount / controller] if controller in controllers.split(",") else []
        for base in bases:
            group = base / path.lstrip("/")
            yield from (place for place in (group, *group.parents) if place.is_relative_to(base))


def quota_of(group: Path) -> float | None:
    """How many processors' worth of time a control group may use."""
    values = [*lines_of(group / "cpu.cfs_quota_us"), *lines_of(group / "cpu.cfs_period_us")]
    with contextlib.suppress(ValueError):
        quota, period = map(int, " ".join(lines_of(group / "cpu.max") or values).split())  # "max" is no limit
        return quota / period if quota > 0 else None
    return None


def memory_of(group: Path) -> int | None:
    """How many bytes of memory a control group may use."""
    for name in ("memory.max", "memory.limit_in_bytes"):
        for line in lines_of(group / name):
            with contextlib.suppress(ValueError):
                return int(line)
    return None


def memory_fields(root: Path) -> tuple[int | None, int | None]:
    """The available and the total memory, in bytes."""
    fields = {}
    for line in lines_of(root / "proc/meminfo"):
        name, _, value = line.partition(":")
        fields[name] = int(value.split()[0]) * KILOBYTE
    return fields.get("MemAvailable"), fields.get("MemTotal")


def lines_of(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
