"""Bubblewrap makes an empty sandbox around a process that only waits (the holder); a forked process joins it.

All mounts and namespaces are made by bwrap, from its arguments. Joining is one system call, setns with a
pidfd (Linux 5.8), and needs no rights because the user namespace belongs to this user.
https://github.com/containers/bubblewrap
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Iterable

from autograder.isolation import confinement, kernel
from autograder.isolation.limits import MEGABYTE, Limits
from autograder.isolation.results import IsolationUnavailable
from autograder.isolation.room import DEVICES, SETTINGS, SYSTEM, Room

START_SECONDS = 20.0
USER_ID = 1000
ACCOUNT = f"student:x:{USER_ID}:{USER_ID}::/tmp:/bin/sh\n".encode()
GROUP = f"student:x:{USER_ID}:\n".encode()
SHARED_MEMORY_BYTES = 64 * MEGABYTE
HOLD = ("/bin/sh", "-c", "echo ready; exec >/dev/null; read line")
NAMESPACES = ("user", "pid", "net", "ipc", "uts")
JOINED = (
    kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWNS
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWCGROUP
)


def program() -> str:
    """The path of bwrap; raises IsolationUnavailable."""
    found = shutil.which("bwrap", path=os.environ.get("PATH", os.defpath))
    if found is None:
        raise IsolationUnavailable("bubblewrap (the program bwrap) is not installed")
    return found


def options_of(bwrap: str) -> frozenset[str]:
    """The options this version of bwrap knows."""
    text = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False).stdout
    return frozenset(word.strip("),.") for word in text.split() if word.startswith("--"))


def namespace_arguments(known: frozenset[str]) -> Iterable[str]:
    """New namespaces of every kind, an empty environment, and no further user namespaces."""
    yield from (f"--unshare-{name}" for name in NAMESPACES)
    yield from ("--unshare-cgroup-try", "--new-session", "--die-with-parent", "--clearenv")
    yield from ("--cap-drop", "ALL", "--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", "sandbox")
    if "--disable-userns" in known:
        yield "--disable-userns"


def mount_arguments(room: Room, limits: Limits, known: frozenset[str]) -> Iterable[str]:
    """The visible files, read-only; a few devices; an empty /tmp and /dev/shm; nothing else exists."""
    yield from tmpfs_arguments("/tmp", limits.file_bytes, known)  # first, because Python may lie in it
    for path, visible in room.steps():
        if not visible:
            yield from ("--tmpfs", str(path))
        elif path in SYSTEM and path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.exists():
            yield from ("--ro-bind", str(path), str(path))
    for path, visible in room.steps():
        if not visible:
            yield from ("--remount-ro", str(path))
    for path in SETTINGS:
        yield from ("--ro-bind-try", str(path), str(path))
    yield from ("--proc", "/proc", "--tmpfs", "/dev")
    for path in DEVICES:
        yield from ("--dev-bind", str(path), str(path))
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        yield from ("--symlink", f"/proc/self/{target}", f"/dev/{name}")
    yield from tmpfs_arguments("/dev/shm", SHARED_MEMORY_BYTES, known)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/proc")


def tmpfs_arguments(path: str, size: int, known: frozenset[str]) -> tuple[str, ...]:
    return ("--size", str(size), "--tmpfs", path) if "--size" in known else ("--tmpfs", path)


class Holder:
    """A bwrap sandbox that contains only a process waiting for the end of its standard input."""

    def __init__(self, room: Room, limits: Limits, seccomp_program: bytes, bwrap: str, known: frozenset[str]):
        self.arguments = [*namespace_arguments(known), *mount_arguments(room, limits, known)]
        self.seccomp_program = seccomp_program
        self.bwrap = bwrap

    def start(self) -> None:
        """Build the sandbox; raises IsolationUnavailable with bwrap's message."""
        contents = (self.seccomp_program, ACCOUNT, GROUP)
        seccomp, account, group = (readable(content) for content in contents)
        hold_read, self.hold = os.pipe()
        told, tell = os.pipe()
        info_read, info = os.pipe()
        arguments = [
            *(self.bwrap, *self.arguments),
            *("--ro-bind-data", str(account), "/etc/passwd", "--ro-bind-data", str(group), "/etc/group"),
            *("--remount-ro", "/", "--chdir", "/", "--seccomp", str(seccomp), "--info-fd", str(info)),
            *("--", *HOLD),
        ]
        for descriptor in (seccomp, account, group, info):
            os.set_inheritable(descriptor, True)
        actions = [
            (os.POSIX_SPAWN_DUP2, hold_read, 0),
            (os.POSIX_SPAWN_DUP2, tell, 1),
            (os.POSIX_SPAWN_DUP2, tell, 2),
        ]
        self.process = os.posix_spawn(self.bwrap, arguments, {"PATH": os.defpath}, file_actions=actions)
        for descriptor in (seccomp, account, group, info, hold_read, tell):
            os.close(descriptor)
        said = read_line(told)
        if said != "ready":
            raise IsolationUnavailable(f"bwrap cannot make a sandbox here: {said or 'no answer'}")
        with os.fdopen(info_read) as description:
            self.pidfd = os.pidfd_open(json.load(description)["child-pid"])
        os.close(told)

    def join(self) -> None:
        """Enter the sandbox; processes forked from here on are in its pid namespace."""
        kernel.set_namespaces(self.pidfd, JOINED)
        os.chdir("/")
        confinement.drop_capabilities()

    def kill(self) -> None:
        """End the sandbox's first process; the kernel then ends all others."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        os.close(self.hold)


def readable(content: bytes) -> int:
    """A descriptor from which these bytes can be read."""
    descriptor = os.memfd_create("content")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def read_line(descriptor: int) -> str:
    """Read up to the end of a line, or until the time is over."""
    text = b""
    while not text.endswith(b"\n") and select.select([descriptor], [], [], START_SECONDS)[0]:
        chunk = os.read(descriptor, 4096)
        if not chunk:
            break
        text += chunk
    return text.decode(errors="replace").strip()
