"""Test which sandboxes work on this machine, and say how to enable the others."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from jupyter_client.kernelspec import find_kernel_specs

from autograder.grading.capacity import capacity_here
from autograder.isolation import IsolationUnavailable, Level, Limits, Warm, landlock
from autograder.isolation.levels import OBSTACLES, WORDS, attempt, who_runs
from autograder.isolation.room import student_room, what_a_submission_sees

CONFINED = ("bwrap", "landlock")
PACKAGES = ("language-models-from-scratch", "torch", "numpy", "nbgrader", "nbclient", "nbformat")
MARKS_OF_CONTAINERS = ("/.dockerenv", "/run/.containerenv")
SECURITY_MODULES = Path("/sys/kernel/security/lsm")
NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")

ELSEWHERE = "student code is confined on Linux only: grade in a Linux virtual machine, WSL 2 or a container"
KERNEL = "autograder"
INSTALL_KERNEL = f"jupyter kernelspec install --sys-prefix --name {KERNEL} autograder/jupyter/kernelspec"
INSTALL = "install it: `apt install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`"
# One for each of OBSTACLES, in the same order.
ALLOWANCES = (
    "`sysctl -w user.max_user_namespaces=15000`",
    "`sysctl -w kernel.unprivileged_userns_clone=1`",
    "`apt install apparmor-profiles`, then load its profile bwrap-userns-restrict with `apparmor_parser -r`",
)
CONTAINER = (
    "a container forbids namespaces unless it is started with permission to create them, for example with "
    "`docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined …`"
)
NEWER_KERNEL = "Landlock needs Linux 5.13 or newer"
SWITCH_ON = (
    "Landlock is switched off in the kernel: add it to the boot option `lsm=`, for example `lsm=landlock,…`"
)


@dataclass(frozen=True)
class Machine:
    """The facts about a machine from which it follows what is missing."""

    system: str = "linux"
    kernel: tuple[int, ...] = (6, 0)
    bwrap: str | None = "bubblewrap 0.8.0"
    landlock: int = 7
    security_modules: tuple[str, ...] = ()
    obstacles: tuple[int, ...] = ()  # the numbers of the OBSTACLES found
    is_container: bool = False


@dataclass(frozen=True)
class Examination:
    """Each level's problem (None where it works), what would help, and what is installed."""

    problems: Mapping[str, str | None]
    remedies: Mapping[str, tuple[str, ...]]
    versions: Mapping[str, str]

    @property
    def best(self) -> str | None:
        """The level that grading uses."""
        return next((level for level in CONFINED if self.problems[level] is None), None)


def examine(machine: Machine, tries: Callable[[str], str | None] = attempt) -> Examination:
    """Try every isolation level; for one that does not work, say what would help."""
    problems = {level: tries(level) for level in CONFINED}
    remedies = {level: tuple(remedies_for(level, machine)) for level in CONFINED if problems[level]}
    return Examination(problems, remedies, versions(machine))


def remedies_for(level: str, machine: Machine) -> Iterator[str]:
    """What would make a level work, as far as the facts show."""
    if machine.system != "linux":
        yield ELSEWHERE
    elif level == "landlock":
        if machine.kernel < (5, 13):
            yield NEWER_KERNEL
        elif not machine.landlock:
            yield SWITCH_ON
    else:
        if machine.bwrap is None:
            yield INSTALL
        yield from (ALLOWANCES[place] for place in machine.obstacles)
        if machine.is_container:
            yield CONTAINER


def this_machine() -> Machine:
    """The facts about this machine."""
    modules = SECURITY_MODULES.read_text().strip() if SECURITY_MODULES.is_file() else ""
    return Machine(
        system=sys.platform,
        kernel=kernel_version(platform.release()),
        bwrap=said_by("bwrap", "--version"),
        landlock=landlock.version() if sys.platform == "linux" else 0,
        security_modules=tuple(filter(None, modules.split(","))),
        obstacles=tuple(place for place, (path, value, _) in enumerate(OBSTACLES) if holds(path, value)),
        is_container=any(Path(mark).exists() for mark in MARKS_OF_CONTAINERS),
    )


def kernel_version(release: str) -> tuple[int, ...]:
    """ "6.8.0-45-generic" → (6, 8)."""
    numbers = release.split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())


def holds(path: str, value: str) -> bool:
    """Whether a kernel setting exists and has this value."""
    try:
        return Path(path).read_text().strip() == value
    except OSError:
        return False


def said_by(program: str, option: str) -> str | None:
    """The first line that a program prints, or None if it is not installed."""
    found = shutil.which(program)
    if found is None:
        return None
    done = subprocess.run([found, option], capture_output=True, text=True, timeout=20, check=False)
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def versions(machine: Machine) -> dict[str, str]:
    """The versions that grading would use."""
    modules = (
        f" (security modules: {', '.join(machine.security_modules)})" if machine.security_modules else ""
    )
    return {
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}{modules}",
        "user": f"{os.geteuid()}" + "".join(f"; {sentence}" for sentence in who_runs()),
        "bwrap": machine.bwrap or "not installed",
        "landlock": f"version {machine.landlock}" if machine.landlock else "not there",
        "python": platform.python_version(),
        **{package: installed(package) for package in PACKAGES},
        "kernel": kernel(),
    }


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed; `pip install -e .[instructor]`"


def kernel() -> str:
    """The folder in which Jupyter finds the sandboxed kernel, or how to install it."""
    return find_kernel_specs().get(KERNEL) or f"not installed; `{INSTALL_KERNEL}`"


def resources(level: str | None) -> list[str]:
    """The capacity of this machine, and whether the process from which submissions are forked starts."""
    return [*capacity_here().in_words(Limits()), build_of_torch(), *([warm_process(level)] if level else [])]


def build_of_torch(driver: Path = NVIDIA_DRIVER) -> str:
    """The kind of GPU for which torch was built, and whether there is a driver."""
    import torch

    kind = f"CUDA {torch.version.cuda}" if torch.version.cuda else "CPUs"
    line = driver.read_text().partition("\n")[0] if driver.is_file() else "no NVIDIA driver"
    return f"torch is built for {kind}; {line}"


def warm_process(level: str) -> str:
    """Whether the warm process starts, and which preparations it could not make."""
    try:
        with Warm(Level(level, "")) as warm:
            done = f"everything but {'; '.join(warm.left_out)}" if warm.left_out else "everything"
    except IsolationUnavailable as problem:
        return f"submissions cannot be started: {problem}"
    return f"submissions are forked from a single-threaded process that has prepared {done}"


def in_words(found: Examination, resources: Sequence[str] = ()) -> str:
    """The lines that `autograder doctor` prints."""
    lines = ["Isolation of student code, best first:"]
    for level in CONFINED:
        problem = found.problems[level]
        verdict = f"works: {WORDS[level]}" if problem is None else f"does not work: {problem}"
        lines.append(f"  {level:9} {verdict}")
        lines += [f"            to enable it: {remedy}" for remedy in found.remedies.get(level, ())]
    lines.append(f"  {'none':9} only {WORDS['none']}")
    lines += [
        "",
        "What a submission sees of this machine:",
        *(f"  {line}" for line in what_a_submission_sees(student_room())),
    ]
    lines += ["", "Versions:", *(f"  {name:29} {value}" for name, value in found.versions.items()), ""]
    if resources:
        lines += ["Resources:", *(f"  {line}" for line in resources), ""]
    if found.best is None:
        lines.append("No sandbox works on this machine, so grading will not start.")
    else:
        lines.append(f"Grading here uses {found.best}.")
    return "\n".join(lines)
