"""Started as root: become a user who owns nothing but still reaches an interpreter in root's home."""

import os
import pwd
import secrets
from pathlib import Path

from autograder.isolation import kernel
from autograder.isolation.room import Room, within

# systemd's table of user ids leaves this range to nobody: https://systemd.io/UIDS-GIDS/
FREE_IDS = range(60578, 61184)
PASSABLE, READABLE = 0o001, 0o005


class CannotDescend(RuntimeError):
    """Root cannot become an ordinary user here; the message says why."""


def descend(room: Room, own: Path) -> int:
    """Become a fresh unprivileged user who can read what the room shows, and owns one directory; its id.

    What has to be mounted is mounted in a namespace of this process's own; the host sees none of it.
    Raises CannotDescend.
    """
    uid = free_id()
    needed = sorted({path.resolve() for path in (own, *room.visible, *room.packages) if path.exists()})
    closed = closed_parents(needed)
    try:
        reach(needed, closed)
    except OSError as error:
        raise CannotDescend(
            f"Python lies in {closed[0]}, where only root may go, and cannot be shown elsewhere ({error}); "
            "start the grader as an ordinary user, or install Python where all may read it"
        ) from None
    become(uid, own)
    for path in needed:
        if path != room.data and not os.access(path, os.R_OK | os.X_OK, effective_ids=True):
            raise CannotDescend(
                f"{path} cannot be read by anyone but its owner; `chmod -R o+rX {path}` would let the grader "
                "run submissions as a user without rights"
            )
    return uid


def become(uid: int, own: Path) -> None:
    """Take on a user and group id for good, and a directory along with them."""
    try:
        for path in (own, *own.rglob("*")):
            os.chown(path, uid, uid, follow_symlinks=False)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError as error:
        raise CannotDescend(
            f"root cannot become user {uid} here ({error}), as in a container with a single user; "
            "start the grader as an ordinary user"
        ) from None
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # the kernel took /proc/self away with the ids


def free_id() -> int:
    """A user id without an account and without a process."""
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            taken.add(process.stat().st_uid)
        except OSError:
            continue
    return secrets.choice([uid for uid in FREE_IDS if uid not in taken])


def reach(needed: list[Path], closed: list[Path]) -> None:
    """Make directories in closed ones reachable: an empty directory over each closed one, and they in it."""
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
    """The topmost directories above the needed ones that an ordinary user may not pass."""
    closed = {
        next((place for place in reversed(path.parents) if not place.stat().st_mode & PASSABLE), None)
        for path in needed
    }
    return sorted(place for place in closed if place is not None)
