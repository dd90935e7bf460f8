"""The three ways to confine a submission, under one interface, for the keeper.

Landlock is weaker than bubblewrap: a submission that knows a path can ask whether the file exists and how
large it is. The work directory is on the host's file system, where its size is watched but not capped. If an
ordinary user starts the grader, all submissions run as that user, so one with very many processes can keep
others from starting any until it is ended. There is no /dev/shm, so DataLoader workers do not run, and files
keep the mode and the times with which they were made.
"""

import os
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path

from autograder.isolation import bwrap, confinement, landlock, seccomp
from autograder.isolation.limits import Limits
from autograder.isolation.room import DEVICES, ITSELF, SETTINGS, Room, allow_list, facts
from autograder.isolation.tree import Descendants, Inhabitants, Tree
from autograder.isolation.unprivileged import Users


class Sandbox(ABC):
    """The confinement of one submission; made by the warm process, opened by each keeper."""

    own_processes = 0
    capped = False  # whether the kernel limits the size of all files, removed ones included
    limits: Limits
    tree: Tree
    writable: tuple[Path, ...]

    def __init__(self, room: Room, place: Path):
        """In the warm process. Raises CannotDescend, IsolationUnavailable."""
        self.room = room
        self.place = place
        self.users = Users(room, place) if os.geteuid() == 0 else None

    def open(self, limits: Limits) -> Path:
        """In the keeper, before the fork: make the sandbox; returns the directory for the files."""
        self.limits = limits
        if self.users is not None:
            self.users.become_one()
        return self.make()

    @abstractmethod
    def make(self) -> Path:
        """In the keeper, as an ordinary user: make the sandbox; returns the directory for the files."""

    @abstractmethod
    def confine(self) -> None:
        """In the student's process: give up all rights."""

    def close(self) -> None:  # noqa: B027  most sandboxes are gone with their processes
        """In the keeper, after the last process has ended."""


class OnHost(Sandbox):
    """A process with limits, in a directory of its own on the host's file system."""

    def make(self) -> Path:
        confinement.adopt_orphans()
        self.tree = Descendants(os.getpid())
        self.home = Path(tempfile.mkdtemp(prefix="submission-", dir=self.place))
        self.writable = (self.home,)
        return self.home

    def confine(self) -> None:
        confinement.limit_resources(self.limits, others=confinement.tasks_of_this_user())
        if sys.platform == "linux":
            confinement.forbid_new_privileges()

    def close(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)


class Unconfined(OnHost):
    """No sandbox: the submission can do whatever its user can."""


class Landlocked(OnHost):
    """Files by allow-list, no sockets, no access to other processes; the file system is the host's."""

    def __init__(self, room: Room, place: Path):
        super().__init__(room, place)
        self.readable, self.listable = allow_list(room)
        self.strictness = seccomp.Strictness(namespaces=False, landlock=landlock.version())
        self.machine = seccomp.this_machine()

    def confine(self) -> None:
        super().confine()
        readable = [*self.readable, *SETTINGS, *DEVICES, *facts()]
        landlock.restrict(readable, [*self.listable, ITSELF], [self.home, Path("/dev/null")])
        seccomp.install(seccomp.program(self.strictness, os.getpid(), self.machine))
        confinement.verify_powerless()


class Bubblewrapped(Sandbox):
    """Namespaces of its own, made by bwrap: of the host's files, only the view of `Room` exists."""

    own_processes = 2  # the first process of the namespace, and the holder
    writable = (Path("/tmp"), Path("/dev/shm"))
    strictness = seccomp.Strictness(namespaces=True)

    def __init__(self, room: Room, place: Path):
        super().__init__(room, place)
        self.machine = seccomp.this_machine()
        self.program = bwrap.program()
        self.known = bwrap.options_of(self.program)
        self.capped = "--size" in self.known

    def make(self) -> Path:
        holders_filter = seccomp.program(self.strictness, 0, self.machine)
        holder = bwrap.Holder(self.room, self.limits, holders_filter, self.program, self.known)
        holder.start()
        holder.join()
        self.tree = Inhabitants(holder)
        return Path(tempfile.mkdtemp(prefix="submission-", dir="/tmp"))

    def confine(self) -> None:
        confinement.forbid_new_privileges()
        if landlock.version():
            landlock.shut_off()
        confinement.limit_resources(self.limits, others=self.own_processes + 1)  # and the keeper
        seccomp.install(seccomp.program(self.strictness, os.getpid(), self.machine))
        confinement.verify_powerless()


SANDBOXES: dict[str, type[Sandbox]] = {"none": Unconfined, "landlock": Landlocked, "bwrap": Bubblewrapped}
