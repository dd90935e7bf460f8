"""Find the isolation level that works on this machine, by trying."""

import contextlib
import os
import select
import signal
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from autograder.isolation.limits import Limits
from autograder.isolation.results import IsolationUnavailable
from autograder.isolation.room import Room, student_room
from autograder.isolation.sandboxes import SANDBOXES, Sandbox

TRIAL_SECONDS = 30.0
HOLDS = "holds"
WORDS = {
    "bwrap": "bubblewrap gives each submission its own namespaces, and its system calls are filtered",
    "landlock": "submissions read what Landlock allows, without a network; their system calls are filtered",
    "none": "asked for by name: submissions read, write and send whatever their user can",
}
VERDICTS = {
    0: "",
    1: "it runs, but files outside the sandbox can be read",
    2: "the process in it could not give up its rights",
}
# Settings that forbid user namespaces: (file, value, what it means).
OBSTACLES = (
    ("/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces is 0"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone is 0"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor restricts user namespaces; its profile bwrap-userns-restrict lets bwrap create them",
    ),
)


@dataclass(frozen=True)
class Level:
    """How submissions are isolated: "bwrap", "landlock" or "none", and the reason."""

    name: str
    reason: str


def choose(wanted: str = "best") -> Level:
    """The best isolation level that works here, or the one asked for: "bwrap", "landlock" or "none".

    Submissions run unconfined only if that is asked for by name. Raises IsolationUnavailable.
    """
    if wanted == "none":
        return Level("none", "; ".join([WORDS["none"], *who_runs()]))
    if wanted not in ("best", "bwrap", "landlock"):
        raise IsolationUnavailable(
            f"there is no isolation level called {wanted}; choose best, bwrap, landlock or none"
        )
    problems: list[str] = []
    for name in ("bwrap", "landlock") if wanted == "best" else (wanted,):
        problem = attempt(name)
        if problem is None:
            return Level(name, "; ".join([WORDS[name], *problems, *who_runs()]))
        problems.append(f"no {name}: {problem}")
    raise IsolationUnavailable("; ".join(problems))


def who_runs() -> list[str]:
    """The user under which submissions run, if it is not the grader's."""
    return (
        ["the grader was started as root, so each submission runs as its own user without rights"]
        if os.geteuid() == 0
        else []
    )


def attempt(name: str) -> str | None:
    """Build the sandbox of a level and try to reach outside; returns what is wrong, or None."""
    if sys.platform != "linux":
        return f"it needs Linux, and this is {sys.platform}; grade in a Linux container or virtual machine"
    room = student_room()
    with tempfile.TemporaryDirectory(prefix="trial-") as place, tempfile.NamedTemporaryFile() as secret:
        os.chmod(secret.name, 0o644)
        return answer_of_trial(name, room, Path(place), secret.name)


def answer_of_trial(name: str, room: Room, place: Path, secret: str) -> str | None:
    """Run the trial in a separate process; one that ends without an answer has not shown that it holds."""
    answer, tell = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the fork only makes system calls and exits
        trial = os.fork()
    if trial == 0:
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
            os.write(tell, (trial_problem(name, room, place, secret) or HOLDS).encode()[:4096])
        finally:
            os._exit(0)  # whatever happens, what the parent has begun is not undone here
    os.close(tell)
    finished = select.select([answer], [], [], TRIAL_SECONDS)[0]
    said = os.read(answer, 4096).decode(errors="replace") if finished else "it did not finish"
    os.close(answer)
    os.kill(trial, signal.SIGKILL)
    os.waitpid(trial, 0)
    return None if said == HOLDS else said or "the trial ended unexpectedly"


def trial_problem(name: str, room: Room, place: Path, secret: str) -> str:
    """Confine a child as a submission would be and let it try to read a file it must not see."""
    try:
        sandbox = SANDBOXES[name](room, place)
        sandbox.open(Limits())
        child = os.fork()
        if child == 0:
            os._exit(look_out(sandbox, secret))
        _, status = os.waitpid(child, 0)
        sandbox.tree.kill()
        sandbox.close()
    except Exception as error:
        return " ".join([str(error), *obstacles()]) if name == "bwrap" else str(error)
    return VERDICTS.get(os.waitstatus_to_exitcode(status), "the trial ended unexpectedly")


def look_out(sandbox: Sandbox, secret: str) -> int:
    """0 if the process is confined and cannot read the file, 1 if it can, 2 if it cannot be confined."""
    try:
        sandbox.confine()
    except BaseException as error:
        print(f"confinement failed: {error}", file=sys.stderr)
        return 2
    return int(can_open(secret))


def can_open(path: str) -> bool:
    try:
        open(path).close()
    except OSError:
        return False
    return True


def obstacles() -> list[str]:
    """Settings of this machine that may forbid user namespaces."""
    found = []
    for path, value, meaning in OBSTACLES:
        with contextlib.suppress(OSError):
            if Path(path).read_text().strip() == value:
                found.append(f"({meaning})")
    if any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")):
        found.append("(a container usually forbids user namespaces)")
    return found
