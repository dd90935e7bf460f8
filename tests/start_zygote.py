"""The warm process as another machine or user has it: `start_zygote.py VERSION USER DESCRIPTOR SETTINGS`.

VERSION: the newest Landlock that the kernel is taken to have, "" for its own; USER: whom root becomes before,
for good, as if that user had started the grader, "" for nobody.
"""

import os
import sys
from pathlib import Path

from autograder.isolation import kernel, landlock, unprivileged, zygote
from autograder.isolation.room import student_room


def become(user: int) -> None:
    """Let go of root, where the interpreter can still be read."""
    room = student_room()
    needed = sorted({path.resolve() for path in (*room.visible, *room.packages) if path.exists()})
    unprivileged.reach(needed, unprivileged.closed_parents(needed))
    os.chown(os.environ["HOME"], user, user)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    Path(os.environ["HOME"]).chmod(0o700)


if __name__ == "__main__":
    version, user = sys.argv[1:3]
    del sys.argv[1:3], sys.path[0]
    if version:
        landlock.version = lambda: int(version)
    if user:
        become(int(user))
    zygote.main()
