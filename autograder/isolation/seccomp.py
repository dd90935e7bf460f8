"""The system calls that student code may not make, as a filter the kernel runs before each call.

The filter is a program in the kernel's classic packet language, written out here for x86-64 and AArch64:
a deny list after Flatpak's, and every call younger than the list is unknown. No library is needed.
https://docs.kernel.org/userspace-api/seccomp_filter.html
"""

import ctypes
import errno
import platform
import struct
from dataclasses import dataclass

from autograder.isolation import kernel
from autograder.isolation.system_calls import (
    DENIED,
    DENIED_WITHOUT_NAMESPACES,
    DENIED_WITHOUT_SCOPES,
    EXAMINED,
    YOUNGEST,
    Calls,
)

LOAD, MASK, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
SET_MODE_FILTER = 2

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, NETLINK_ROUTE = 1, 2, 10, 16, 0
SOCK_STREAM, SOCK_SEQPACKET, SOCK_KINDS = 1, 5, 0xF
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
NEW_NAMESPACES = (
    kernel.CLONE_NEWNS
    | kernel.CLONE_NEWCGROUP
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
)


@dataclass(frozen=True)
class Machine:
    """An architecture: its name to the kernel, its column in the tables, its foreign call numbers."""

    audit: int
    column: int
    foreign_from: int | None  # x32 calls begin here


MACHINES = {"x86_64": Machine(0xC000003E, 0, 0x40000000), "aarch64": Machine(0xC00000B7, 1, None)}


@dataclass(frozen=True)
class Strictness:
    """What else keeps the student's process in, and so need not be refused here."""

    namespaces: bool
    signal_scope: bool


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One step of the filter: struct sock_filter."""
    return struct.pack("<HBBI", code, if_true, if_false, value)


def refuse(number: int) -> bytes:
    """Leave the filter with this errno."""
    return instruction(RETURN, ERROR | number)


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


def argument(index: int) -> int:
    """Where the low half of a call's argument lies."""
    return ARGUMENTS + 8 * index


def when(code: int, value: int, verdict: bytes) -> list[bytes]:
    """Leave with a verdict if the accumulator passes the test."""
    return [instruction(code, value, 0, 1), verdict]


def clone_steps() -> list[bytes]:
    """Threads and processes, but no new namespaces."""
    return [load(argument(0)), *when(ANY_BIT, NEW_NAMESPACES, refuse(errno.EPERM)), allow()]


def ioctl_steps() -> list[bytes]:
    """Everything but typing into another's terminal."""
    tests = [step for value in (TIOCSTI, TIOCLINUX) for step in when(EQUAL, value, refuse(errno.EPERM))]
    return [load(argument(1)), *tests, allow()]


def socket_steps(strictness: Strictness) -> list[bytes]:
    """Sockets only where there is a network namespace: local, internet, and what lists the interfaces."""
    if not strictness.namespaces:
        return [refuse(errno.EAFNOSUPPORT)]
    tests = [step for family in (AF_UNIX, AF_INET, AF_INET6) for step in when(EQUAL, family, allow())]
    netlink = [load(argument(2)), *when(EQUAL, NETLINK_ROUTE, allow()), refuse(errno.EAFNOSUPPORT)]
    return [load(argument(0)), *tests, *only_for(AF_NETLINK, netlink), refuse(errno.EAFNOSUPPORT)]


def socketpair_steps(strictness: Strictness) -> list[bytes]:
    """Connected pairs; without namespaces none that could also send to a path."""
    if strictness.namespaces:
        return [allow()]
    kinds = [step for kind in (SOCK_STREAM, SOCK_SEQPACKET) for step in when(EQUAL, kind, allow())]
    return [load(argument(1)), instruction(MASK, SOCK_KINDS), *kinds, refuse(errno.EAFNOSUPPORT)]


def program(strictness: Strictness, machine_name: str = "") -> bytes:
    """The filter's instructions; raises NotImplementedError on an architecture without a table."""
    name = machine_name or platform.machine()
    if name not in MACHINES:
        raise NotImplementedError(f"no system-call table for {name}")
    machine = MACHINES[name]
    examined = {
        "clone": clone_steps(),
        "clone3": [refuse(errno.ENOSYS)],  # its flags cannot be read; the C library falls back on clone
        "ioctl": ioctl_steps(),
        "socket": socket_steps(strictness),
        "socketpair": socketpair_steps(strictness),
    }
    steps = [load(ARCHITECTURE), *unless(machine.audit, instruction(RETURN, KILL)), load(NUMBER)]
    if machine.foreign_from is not None:
        steps += when(AT_LEAST, machine.foreign_from, instruction(RETURN, KILL))
    steps += when(AT_LEAST, YOUNGEST + 1, refuse(errno.ENOSYS))
    for numbers in denied(strictness).values():
        if numbers[machine.column] is not None:
            steps += when(EQUAL, numbers[machine.column], refuse(errno.EPERM))
    for call, verdict in examined.items():
        steps += only_for(EXAMINED[call][machine.column], verdict)
    return b"".join([*steps, allow()])


def denied(strictness: Strictness) -> Calls:
    """The calls refused whatever their arguments."""
    calls = dict(DENIED)
    if not strictness.namespaces:
        calls |= DENIED_WITHOUT_NAMESPACES
    if not strictness.signal_scope:
        calls |= DENIED_WITHOUT_SCOPES
    return calls


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def install(filter_program: bytes) -> None:
    """Put this process, and all it starts, under the filter; needs no_new_privs."""
    described = Program(len(filter_program) // 8, filter_program)
    kernel.prctl(kernel.PR_SET_SECCOMP, SET_MODE_FILTER, ctypes.addressof(described))
