"""The rights that a freshly forked student process gives up before it runs a line of the student's code."""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

from autograder.isolation import kernel
from autograder.isolation.limits import Limits
from autograder.isolation.tree import MOST_DESCRIPTORS

CAPABILITY_VERSION_3 = 0x20080522


class CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class CapabilitySets(ctypes.Structure):
    _fields_ = (
        *(("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)),
    )


def drop_capabilities() -> None:
    """Empty all five capability sets, for this process and everything it starts."""
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last + 1):
        kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    kernel.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    header, empty = CapabilityHeader(CAPABILITY_VERSION_3, 0), (CapabilitySets * 2)()
    kernel.checked(kernel.LIBC.capset(ctypes.byref(header), ctypes.byref(empty)), "capset")


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends, so none is lost."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """End when the parent does."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def die_first() -> None:
    """When memory runs out, let the kernel end this process and its children before others."""
    if sys.platform == "linux":
        Path("/proc/self/oom_score_adj").write_text("1000")


def forbid_new_privileges() -> None:
    """Let no program started from now on gain rights by being set-uid."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def limit_resources(limits: Limits, others: int) -> None:
    """Set the limits that the kernel enforces for each process.

    others: how many processes and threads the kernel counts together with the student's own.
    """
    ceilings = {
        resource.RLIMIT_CPU: limits.cpu_seconds + 1,
        resource.RLIMIT_FSIZE: limits.largest_file_bytes,
        resource.RLIMIT_NOFILE: MOST_DESCRIPTORS,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 64 << 10,
        resource.RLIMIT_NPROC: 2 * limits.processes + others,  # the keeper ends them earlier, and says why
    }
    limit_memory(limits.memory_bytes)
    if sys.platform == "linux":
        ceilings[resource.RLIMIT_MSGQUEUE] = 0
    for kind, ceiling in ceilings.items():
        _, most = resource.getrlimit(kind)
        ceiling = ceiling if most == resource.RLIM_INFINITY else min(ceiling, most)
        resource.setrlimit(kind, (ceiling, ceiling))
    # A process is signalled a second before its end, which makes the cause known.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds + 1))


def limit_memory(number_of_bytes: int) -> None:
    """Limit how much more memory this process may map, where the system can enforce it."""
    if sys.platform == "linux":
        born_with = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        ceiling = born_with + number_of_bytes
        ceiling = ceiling if most == resource.RLIM_INFINITY else min(ceiling, most)
        resource.setrlimit(resource.RLIMIT_AS, (ceiling, ceiling))


def tasks_of_this_user() -> int:
    """How many processes and threads this user has on the machine, which is what RLIMIT_NPROC counts."""
    own, tasks = os.getuid(), 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == own:
                tasks += len(os.listdir(process / "task"))
    return tasks


def close_all_but(keep: set[int]) -> None:
    """Close every open descriptor except these."""
    kept = sorted(keep)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for low, high in zip([-1, *kept], [*kept, min(most, 1 << 16)], strict=True):
        if low + 1 < high:  # Python takes closerange(0, 0) for "all of them"
            os.closerange(low + 1, high)


def silence() -> None:
    """Connect standard input, output and error to nothing."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    if nothing > 2:
        os.close(nothing)


def verify_powerless() -> None:
    """Check in /proc/self/status that no right is left; otherwise raises PermissionError, so nothing runs."""
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    held = [name for name in ("CapPrm", "CapEff", "CapInh", "CapAmb") if int(status[name], 16)]
    if held or status["NoNewPrivs"] != "1" or os.geteuid() == 0:
        raise PermissionError(f"the student's process still holds rights: {held or status['Uid']}")
