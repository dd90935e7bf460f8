"""Which isolation this machine gives, found out by trying it."""

import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from autograder.isolation import confinement, landlock, seccomp
from autograder.isolation.results import IsolationUnavailable


@dataclass(frozen=True)
class Level:
    """How submissions are kept in: "bwrap", "landlock" or "none", and why this one."""

    name: str
    reason: str


def choose(wanted: str = "best") -> Level:
    """The best isolation there is, or the one asked for by name: "bwrap", "landlock" or "none".

    Raises IsolationUnavailable; submissions never run unconfined unless that was asked for.
    """
    if wanted == "none":
        return Level("none", "asked for: submissions can read, write and send whatever the grader can")
    landlock_problem = try_landlock()
    if wanted in ("best", "landlock") and landlock_problem is None:
        return Level("landlock", "Landlock, seccomp and resource limits")
    raise IsolationUnavailable(f"no isolation on this machine: {landlock_problem}")


def try_landlock() -> str | None:
    """Confine a thread of this process and look whether it still reads a file; what is wrong, or None."""
    problems: list[str | None] = []
    with tempfile.NamedTemporaryFile() as secret:
        thread = threading.Thread(target=lambda: problems.append(landlock_problem(secret.name)))
        thread.start()
        thread.join()
    return problems[0]


def landlock_problem(secret: str) -> str | None:
    try:
        confinement.forbid_new_privileges()
        landlock.restrict([Path("/usr")], [], [])
        seccomp.install(seccomp.program(seccomp.Strictness(namespaces=False, signal_scope=True)))
    except (OSError, NotImplementedError, AttributeError) as error:
        return f"Landlock or seccomp is missing ({error})"
    try:
        os.open(secret, os.O_RDONLY)
    except PermissionError:
        return None
    return "Landlock is there but does not keep files closed"
