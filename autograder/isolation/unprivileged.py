"""If started as root, run each submission as its own user, who owns nothing but can read the interpreter.

The warm process, which runs no student code, stays root to the end. A keeper becomes its user, for good,
before it forks the student's process. So no submission shares a user with the warm process, with another
submission or with anyone on the machine.
"""

import os
import pwd
import secrets
import socket
from pathlib import Path

from autograder.isolation import kernel
from autograder.isolation.room import Room, within

# systemd's table of user ids assigns this range to nobody: https://systemd.io/UIDS-GIDS/
FREE_IDS = range(60578, 61184)
PASSABLE, READABLE = 0o001, 0o005
ANYONE_MAKES_NOBODY_LISTS = 0o1733  # and each may remove only its own


class CannotDescend(RuntimeError):
    """Root cannot become an ordinary user here; the message says why."""


class Users:
    """User ids without an account, of which each submission gets one for itself."""

    def __init__(self, room: Room, place: Path):
        """Make the visible files reachable for these users, and let each create a directory of its own.

        Mounts are made in a separate namespace of this process; the host does not see them.
        Raises CannotDescend.
        """
        accounts = {entry.pw_uid for entry in pwd.getpwall()}
        self.ids = [uid for uid in FREE_IDS if uid not in accounts]
        needed = sorted({path.resolve() for path in (place, *room.visible, *room.packages) if path.exists()})
        closed = closed_parents(needed)
        try:
            reach(needed, closed)
        except OSError as error:
            raise CannotDescend(
                f"Python is installed in {closed[0]}, which only root may enter, and cannot be mounted "
                f"elsewhere ({error}); start the grader as an ordinary user, or install Python where all may "
                "read it"
            ) from None
        place.chmod(ANYONE_MAKES_NOBODY_LISTS)
        verify_readable([path for path in needed if path not in (place.resolve(), room.data)], self.ids[0])

    def become_one(self) -> int:
        """Become, for good, a user who has no process; raises CannotDescend."""
        os.setgroups([])
        taken = owners_of_processes()
        for uid in secrets.SystemRandom().sample(self.ids, len(self.ids)):
            if uid not in taken and (claim := claim_on(uid)) is not None:
                self.claim = claim  # held until the keeper ends
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # changing ids has made /proc/self inaccessible
                return uid
        raise CannotDescend(f"all user ids from {FREE_IDS[0]} to {FREE_IDS[-1]} are in use")


def verify_readable(paths: list[Path], uid: int) -> None:
    """Raise CannotDescend unless a user who owns nothing can read these paths."""
    try:
        os.setgroups([])
        os.setegid(uid)
        os.seteuid(uid)
    except OSError as error:
        raise CannotDescend(
            f"root cannot become user {uid} here ({error}), as in a container with a single user; "
            "start the grader as an ordinary user"
        ) from None
    try:
        closed = [path for path in paths if not os.access(path, os.R_OK | os.X_OK, effective_ids=True)]
    finally:
        os.seteuid(0)
        os.setegid(0)
    if closed:
        raise CannotDescend(
            f"{closed[0]} cannot be read by anyone but its owner; `chmod -R o+rX {closed[0]}` would let the "
            "grader run submissions as a user without rights"
        )


def claim_on(uid: int) -> socket.socket | None:
    """A claim that one process of this machine can hold, until it ends; None if another holds it."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0submission-of-user-{uid}")
    except OSError:
        claim.close()
        return None
    return claim


def owners_of_processes() -> set[int]:
    """The users who have a process."""
    owners = set()
    for process in os.scandir("/proc"):
        if process.name.isdigit():
            try:
                owners.add(process.stat().st_uid)
            except OSError:
                continue
    return owners


def reach(needed: list[Path], closed: list[Path]) -> None:
    """Make directories inside closed ones reachable: cover each closed one, and mount them again inside."""
    if not closed:
        return
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    inside = [path for path in needed if any(within(path, place) for place in closed)]
    opened = {path: os.open(path, os.O_PATH) for path in inside}  # before they are covered
    for place in closed:
        kernel.mount("tmpfs", str(place), "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0755,size=1m")
    for path, descriptor in opened.items():
        path.mkdir(parents=True, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{descriptor}", str(path), None, kernel.MS_BIND | kernel.MS_REC)
        os.close(descriptor)


def closed_parents(needed: list[Path]) -> list[Path]:
    """The topmost directories above the needed ones that an ordinary user may not enter."""
    closed = {
        next((place for place in reversed(path.parents) if not place.stat().st_mode & PASSABLE), None)
        for path in needed
    }
    return sorted(place for place in closed if place is not None)
