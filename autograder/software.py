"""The versions that a verdict depends on: the code of the grader and of the course, and their packages."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("autograder", "course")  # the code on which a verdict depends
LIBRARIES = ("torch", "numpy")


@cache
def software() -> dict[str, str]:
    """The name of each part → its version at the first call in this process.

    The grader's version is a digest of its code and the course's. Only parts that can change a verdict are
    listed.
    """
    libraries = {name: version(name).partition("+")[0] for name in LIBRARIES}
    return {"grader": code_on_disk(), "Python": "{}.{}".format(*sys.version_info), **libraries}


def code_on_disk() -> str:
    """A digest of the present contents of every Python file of the grader and of the course."""
    folders = [folder_of(name) for name in PACKAGES]
    return digest(*(text for folder in folders for text in contents(folder, "*.py")))


def folder_of(package: str) -> Path:
    """The folder of a package, found without importing it; raises ModuleNotFoundError."""
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError(f"there is no package {package}", name=package)
    return Path(spec.submodule_search_locations[0])


def contents(folder: Path, pattern: str = "*") -> Iterator[str]:
    """The path within the folder and the SHA-256 of every file whose name matches."""
    for path in files_in(folder):
        if path.match(pattern):
            yield f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder, except hidden ones and Python's caches."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
            yield path


def digest(*texts: str) -> str:
    """SHA-256 of several texts, each with its length, so that no two lists give the same input."""
    whole = hashlib.sha256()
    for text in texts:
        data = text.encode()
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()
