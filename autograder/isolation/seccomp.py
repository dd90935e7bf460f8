"""The filter of system calls, as a program that the kernel runs before each call.

The filter is a program in the kernel's classic packet language, written out here for x86-64 and AArch64. It
is an allow list, in part with conditions on the arguments; every other call does not exist. Calls that reach
other processes or files of the same user are refused, even where a namespace hides those, if no honest code
needs them. No library is needed. https://docs.kernel.org/userspace-api/seccomp_filter.html
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.isolation import kernel
from autograder.isolation.system_calls import (
    ALLOWED,
    ATTRIBUTES,
    CHMOD,
    CHOWN,
    EXAMINED,
    GROUPS,
    SOCKETS,
    Calls,
)

LOAD, MASK, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
SET_MODE_FILTER = 2

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, NETLINK_ROUTE = 1, 2, 10, 16, 0
WHATEVER_FITS, TCP, UDP = 0, 6, 17
SOL_SOCKET, SIZES_OF_BUFFERS = 1, (7, 8, 32, 33)
MAP_SHARED, MAP_SHARED_VALIDATE, MAP_KINDS, MAP_ANONYMOUS = 0x1, 0x3, 0xF, 0x20
SOCK_STREAM, SOCK_SEQPACKET, SOCK_KINDS = 1, 5, 0xF
PRIO_PROCESS = 0
NEW_NAMESPACES = (
    kernel.CLONE_NEWNS
    | kernel.CLONE_NEWCGROUP
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
)
# Questions about terminals (there are none), waiting bytes, settings of a descriptor, copies of whole files.
DEVICE_COMMANDS = {
    **{"TCGETS": 0x5401, "TCGETS2": 0x802C542A, "TIOCGPGRP": 0x540F, "TIOCGWINSZ": 0x5413},
    **{"FIONREAD": 0x541B, "FIONBIO": 0x5421, "FIONCLEX": 0x5450, "FIOCLEX": 0x5451},
    **{"FICLONE": 0x40049409, "FICLONERANGE": 0x4020940D},
}
# Descriptors, pipes, and whether a file is locked; not who is signalled about a descriptor, nor leases and
# watches on files.
DESCRIPTOR_COMMANDS = {
    **{"F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "F_DUPFD_CLOEXEC": 1030},
    **{"F_GETLK": 5, "F_OFD_GETLK": 36},
    **{"F_SETPIPE_SZ": 1031, "F_GETPIPE_SZ": 1032, "F_ADD_SEALS": 1033, "F_GET_SEALS": 1034},
}
# Locks on parts of files: neither their number nor their memory, which counts for no process, is limited.
LOCKS = {"F_SETLK": 6, "F_SETLKW": 7, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38}


@dataclass(frozen=True)
class Machine:
    """An architecture: the kernel's name for it, its column in the tables, its foreign call numbers."""

    audit: int
    column: int
    foreign_from: int | None  # x32 calls begin here


MACHINES = {"x86_64": Machine(0xC000003E, 0, 0x40000000), "aarch64": Machine(0xC00000B7, 1, None)}


def this_machine() -> Machine:
    """The architecture of this machine; raises NotImplementedError if there is no table for it."""
    return machine_called(platform.machine())


def machine_called(name: str) -> Machine:
    if name not in MACHINES:
        raise NotImplementedError(f"no system-call table for {name}")
    return MACHINES[name]


@dataclass(frozen=True)
class Strictness:
    """What else confines the student's process, and so need not be refused here."""

    namespaces: bool
    landlock: int = 0  # its version; irrelevant where there are namespaces

    @property
    def signals_stay_inside(self) -> bool:
        return self.namespaces or self.landlock >= 6

    @property
    def files_keep_their_length(self) -> bool:
        return self.namespaces or self.landlock >= 3


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One step of the filter: struct sock_filter."""
    return struct.pack("<HBBI", code, if_true, if_false, value)


def refuse(number: int) -> bytes:
    """Leave the filter with this errno."""
    return instruction(RETURN, ERROR | number)


def pretend() -> bytes:
    """Leave the filter; the call is not made and the caller is told that it was."""
    return instruction(RETURN, ERROR)


def allow() -> bytes:
    """Leave the filter and make the call."""
    return instruction(RETURN, ALLOW)


def load(offset: int) -> bytes:
    """Load four bytes of the call's description."""
    return instruction(LOAD, offset)


def only_for(number: int, steps: list[bytes]) -> list[bytes]:
    """Steps for one system call; they may use up the accumulator, so they must end in a verdict."""
    return [instruction(EQUAL, number, 0, len(steps)), *steps]


def unless(value: int, verdict: bytes) -> list[bytes]:
    """Leave with a verdict if the accumulator is anything else."""
    return [instruction(EQUAL, value, 1, 0), verdict]


def only(values: Iterable[int], otherwise: bytes) -> list[bytes]:
    """Make the call if the accumulator is one of these values, else leave with a verdict."""
    return [*(step for value in values for step in when(EQUAL, value, allow())), otherwise]


def argument(index: int) -> int:
    """Where the low half of a call's argument lies."""
    return ARGUMENTS + 8 * index


def when(code: int, value: int, verdict: bytes) -> list[bytes]:
    """Leave with a verdict if the accumulator passes the test."""
    return [instruction(code, value, 0, 1), verdict]


def clone_steps() -> list[bytes]:
    """Threads and processes, but no new namespaces."""
    return [load(argument(0)), *when(ANY_BIT, NEW_NAMESPACES, refuse(errno.EPERM)), allow()]


def socket_steps(strictness: Strictness) -> list[bytes]:
    """Sockets only where there is a network namespace: local, internet, and those that list the interfaces.

    Only TCP and UDP are allowed on the internet, because other protocols would load modules of the kernel.
    """
    if not strictness.namespaces:
        return [refuse(errno.EAFNOSUPPORT)]
    internet = [load(argument(2)), *only((WHATEVER_FITS, TCP, UDP), refuse(errno.EPROTONOSUPPORT))]
    netlink = [load(argument(2)), *only((NETLINK_ROUTE,), refuse(errno.EAFNOSUPPORT))]
    protocols = ((AF_INET, internet), (AF_INET6, internet), (AF_NETLINK, netlink))
    tests = [step for family, steps in protocols for step in only_for(family, steps)]
    return [load(argument(0)), *when(EQUAL, AF_UNIX, allow()), *tests, refuse(errno.EAFNOSUPPORT)]


def socketpair_steps(strictness: Strictness) -> list[bytes]:
    """Connected pairs of sockets; without namespaces, only kinds that cannot send to a path."""
    if strictness.namespaces:
        return [allow()]
    kinds = only((SOCK_STREAM, SOCK_SEQPACKET), refuse(errno.EAFNOSUPPORT))
    return [load(argument(1)), instruction(MASK, SOCK_KINDS), *kinds]


def descriptor_steps() -> list[bytes]:
    """Commands about descriptors; locks are answered as if got, since no two submissions share a file."""
    locks = [step for command in LOCKS.values() for step in when(EQUAL, command, pretend())]
    return [load(argument(1)), *locks, *only(DESCRIPTOR_COMMANDS.values(), refuse(errno.EINVAL))]


def option_steps() -> list[bytes]:
    """Settings of a socket, except the size of its buffers, whose memory counts for no process."""
    sizes = [step for size in SIZES_OF_BUFFERS for step in when(EQUAL, size, pretend())]
    return [load(argument(1)), *unless(SOL_SOCKET, allow()), load(argument(2)), *sizes, allow()]


def mapping_steps() -> list[bytes]:
    """Private memory, or memory of a file: memory shared without a file can be hidden from the keeper.

    After MADV_DONTNEED such memory counts for no process, but still exists.
    """
    shared = (MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED_VALIDATE | MAP_ANONYMOUS)
    tests = [step for kind in shared for step in when(EQUAL, kind, refuse(errno.EPERM))]
    return [load(argument(3)), instruction(MASK, MAP_KINDS | MAP_ANONYMOUS), *tests, allow()]


def for_oneself(own: int, index: int = 0) -> list[bytes]:
    """A call about a process, if it is the caller: 0, or the number of the student's first process."""
    return [load(argument(index)), *only((0, own), refuse(errno.EPERM))]


def priority_steps(own: int) -> list[bytes]:
    """The priority of the caller, not of a group or a user."""
    return [load(argument(0)), *unless(PRIO_PROCESS, refuse(errno.EPERM)), *for_oneself(own, 1)]


def opening_steps(strictness: Strictness, flags: int) -> list[bytes]:
    """Opening files: early versions of Landlock let a read-only file be truncated as it is opened."""
    if strictness.files_keep_their_length:
        return [allow()]
    cutting = [instruction(MASK, os.O_ACCMODE), *only((os.O_WRONLY, os.O_RDWR), refuse(errno.EPERM))]
    return [load(argument(flags)), instruction(ANY_BIT, os.O_TRUNC, 1, 0), allow(), *cutting]


def times_steps(strictness: Strictness) -> list[bytes]:
    """A file's times: refused for a path, so that `touch` opens the file; otherwise as CHMOD is."""
    if strictness.namespaces:
        return [allow()]
    path, times = argument(1), argument(2)
    now = [instruction(EQUAL, 0, 0, 1), refuse(errno.EPERM), pretend()]
    return [load(path), instruction(EQUAL, 0, 0, 1), pretend(), load(times), *now]


def signal_steps(strictness: Strictness, own: int) -> list[bytes]:
    """Signals to any process that the kernel allows, if these are all inside the sandbox."""
    return [allow()] if strictness.signals_stay_inside else for_oneself(own)


def verdicts(strictness: Strictness, own: int) -> dict[str, list[bytes]]:
    """For every conditional call, the steps that decide."""
    opening = allow() if strictness.files_keep_their_length else refuse(errno.EPERM)
    return {
        "open": opening_steps(strictness, flags=1),
        "openat": opening_steps(strictness, flags=2),
        "truncate": [opening],
        "utimensat": times_steps(strictness),
        "ioctl": [load(argument(1)), *only(DEVICE_COMMANDS.values(), refuse(errno.ENOTTY))],
        "fcntl": descriptor_steps(),
        "mmap": mapping_steps(),
        "setsockopt": option_steps(),
        "clone": clone_steps(),
        "clone3": [refuse(errno.ENOSYS)],  # its flags cannot be read; the C library falls back on clone
        "socket": socket_steps(strictness),
        "socketpair": socketpair_steps(strictness),
        "kill": signal_steps(strictness, own),
        "tgkill": signal_steps(strictness, own),
        "prlimit64": for_oneself(own),
        "setpriority": priority_steps(own),
        **dict.fromkeys(("sched_setaffinity", "sched_setscheduler", "sched_setparam"), for_oneself(own)),
    }


def answers(strictness: Strictness) -> Iterable[tuple[Calls, bytes]]:
    """The calls that get the same answer whatever their arguments."""
    yield ALLOWED, allow()
    yield GROUPS, pretend()
    yield CHOWN, refuse(errno.EPERM)
    yield ATTRIBUTES, refuse(errno.EOPNOTSUPP)
    yield CHMOD, allow() if strictness.namespaces else pretend()
    if strictness.namespaces:
        yield SOCKETS, allow()


def program(strictness: Strictness, own: int, machine: Machine) -> bytes:
    """The filter's instructions.

    own: the number of the process that will be under the filter.
    """
    steps = [load(ARCHITECTURE), *unless(machine.audit, instruction(RETURN, KILL)), load(NUMBER)]
    if machine.foreign_from is not None:
        steps += when(AT_LEAST, machine.foreign_from, instruction(RETURN, KILL))
    for call, decision in verdicts(strictness, own).items():
        if (number := EXAMINED[call][machine.column]) is not None:
            steps += only_for(number, decision)
    for calls, answer in answers(strictness):
        for numbers in calls.values():
            if (number := numbers[machine.column]) is not None:
                steps += when(EQUAL, number, answer)
    return b"".join([*steps, refuse(errno.ENOSYS)])


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def install(filter_program: bytes) -> None:
    """Put this process, and all it starts, under the filter; needs no_new_privs."""
    described = Program(len(filter_program) // 8, filter_program)
    kernel.prctl(kernel.PR_SET_SECCOMP, SET_MODE_FILTER, ctypes.addressof(described))
