"""The files under some paths that belong to the project."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path


def tracked(root: Path, paths: Sequence[str]) -> list[str]:
    """The files under these paths, relative to root, except those git ignores; without a repository, all."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *paths]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return sorted(name for name in listed.stdout.splitlines() if (root / name).is_file())
    found = (
        file
        for path in paths
        for file in ((root / path).rglob("*") if (root / path).is_dir() else [root / path])
    )
    files = (file for file in found if file.is_file() and "__pycache__" not in file.parts)
    return sorted(file.relative_to(root).as_posix() for file in files)
