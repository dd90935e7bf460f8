"""The few Linux system calls that Python's standard library does not offer."""

import ctypes
import os

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV = 2, 4
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18

LIBC = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a system call, or OSError with its errno."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def prctl(option: int, *arguments: int) -> int:
    """Change this process's attributes; see prctl(2)."""
    words = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    return checked(LIBC.prctl(option, *words), f"prctl {option}")


def system_call(number: int, *arguments: object) -> int:
    """Make a system call that has no wrapper."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return checked(LIBC.syscall(ctypes.c_long(number), *words), f"system call {number}")


def set_namespaces(descriptor: int, kinds: int) -> None:
    """Join the namespaces of the process a pidfd names; the pid namespace holds from the next fork on."""
    checked(LIBC.setns(descriptor, kinds), "setns")


def unshare(kinds: int) -> None:
    """Move to new namespaces."""
    checked(LIBC.unshare(kinds), "unshare")


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mount; see mount(2)."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    data = None if options is None else options.encode()
    checked(LIBC.mount(*texts, ctypes.c_ulong(flags), data), f"mount {target}")
