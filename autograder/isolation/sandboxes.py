"""The three ways to keep a submission in, under one interface, for the keeper.

What Landlock leaves open and bubblewrap does not: whether a file exists and how large it is can be asked by
its path; the work directory lies on the host's file system, where its size is watched but not capped; all
submissions are one user to the kernel, so that one with very many processes can, until it is ended, keep
others from starting any; and there is no /dev/shm, so that DataLoader workers do not run.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from autograder.isolation import bwrap, confinement, landlock, seccomp
from autograder.isolation.limits import Limits
from autograder.isolation.room import DEVICES, FACTS, SETTINGS, Room, allow_list
from autograder.isolation.tree import Descendants, Inhabitants, Tree


class Unconfined:
    """No sandbox: a process of its own with limits, in a directory of its own."""

    own_processes = 0

    def __init__(self, room: Room, place: Path):
        self.room = room
        self.place = place

    def open(self, limits: Limits) -> Path:
        """In the keeper, before the fork: make the sandbox; where the student's files will lie in it."""
        self.limits = limits
        confinement.adopt_orphans()
        self.tree: Tree = Descendants(os.getpid())
        self.home = Path(tempfile.mkdtemp(prefix="submission-", dir=self.place))
        self.writable = (self.home,)
        return self.home

    def confine(self) -> None:
        """In the student's process: give up everything."""
        confinement.limit_resources(self.limits, others=confinement.tasks_of_this_user())
        if sys.platform == "linux":
            confinement.forbid_new_privileges()

    def close(self) -> None:
        """In the keeper, after the last process is gone."""
        shutil.rmtree(self.home, ignore_errors=True)


class Landlocked(Unconfined):
    """Files by allow-list, no sockets, no reach to other processes; the filesystem is the host's."""

    def __init__(self, room: Room, place: Path):
        super().__init__(room, place)
        self.readable, self.listable = allow_list(room)
        strictness = seccomp.Strictness(namespaces=False, signal_scope=landlock.version() >= 6)
        self.filter = seccomp.program(strictness)

    def confine(self) -> None:
        super().confine()
        readable = [*self.readable, *SETTINGS, *DEVICES, *FACTS]
        landlock.restrict(readable, self.listable, [self.home, Path("/dev/null")])
        seccomp.install(self.filter)
        confinement.verify_powerless()


class Bubblewrapped:
    """Namespaces of its own, made by bwrap: nothing of the host but the room exists."""

    own_processes = 2  # the first process of the namespace, and the holder
    writable = (Path("/tmp"), Path("/dev/shm"))

    def __init__(self, room: Room, place: Path):
        self.room = room
        self.filter = seccomp.program(seccomp.Strictness(namespaces=True, signal_scope=True))
        self.program = bwrap.program()
        self.known = bwrap.options_of(self.program)

    def open(self, limits: Limits) -> Path:
        self.limits = limits
        holder = bwrap.Holder(self.room, limits, self.filter, self.program, self.known)
        holder.start()
        holder.join()
        self.tree: Tree = Inhabitants(holder)
        return Path(tempfile.mkdtemp(prefix="submission-", dir="/tmp"))

    def confine(self) -> None:
        confinement.forbid_new_privileges()
        if landlock.version():
            landlock.shut_off()
        confinement.limit_resources(self.limits, others=self.own_processes + 1)  # and the keeper
        seccomp.install(self.filter)
        confinement.verify_powerless()

    def close(self) -> None:
        """Nothing: the sandbox is gone with its processes."""


Sandbox = Unconfined | Bubblewrapped

SANDBOXES = {"none": Unconfined, "landlock": Landlocked, "bwrap": Bubblewrapped}
