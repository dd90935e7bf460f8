"""GitHub Classroom, as cloned by `gh classroom clone student-repos`: one repository `SLUG-LOGIN` per student.

The time is that of the last commit, as reported by the student's own machine.
https://docs.github.com/en/education/manage-coursework-with-github-classroom
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path

from autograder.collecting.attempt import Attempt, attempt_of
from autograder.collecting.tree import Tree

SECONDS = 20


def recognises(tree: Tree, homework: str) -> bool:
    """Whether a folder at the top is a repository, or is called SLUG-… in SLUG-submissions."""
    slug = tree.name.removesuffix("-submissions")
    by_name = slug != tree.name and any(name.startswith(f"{slug}-") for name in _folders(tree))
    return by_name or bool(_repositories(tree))


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """One attempt for each repository, as it is checked out, and for each folder that is called like one."""
    folders = _folders(tree)
    slug = slug_of(_repositories(tree) or folders, tree.name, homework)
    for name in folders:
        if not (name.lower().startswith(slug.lower()) if slug else (name,) in tree.repositories):
            continue
        time = _last_commit(tree.place / name) if tree.place and (name,) in tree.repositories else None
        notes = () if time is None else ("time as the student's commit says",)
        yield attempt_of((name.removeprefix(slug), name), tree.below(name), time=time, notes=notes)


def _folders(tree: Tree) -> list[str]:
    return [name for name in tree.tops if (name,) in tree.folders and not name.startswith(".")]


def _repositories(tree: Tree) -> list[str]:
    return [name for name in _folders(tree) if (name,) in tree.repositories]


def slug_of(folders: list[str], parent: str, homework: str) -> str:
    """The part of a folder's name before the login, with its hyphen.

    It is found from the parent folder's name, then from the homework's, if most folders begin so; then as the
    common beginning of all names, which is less certain because logins may begin alike.
    """
    known = [parent.removesuffix("-submissions"), homework, homework.replace("_", "-")]
    for slug in known:
        named = [name for name in folders if name.lower().startswith(f"{slug}-".lower())]
        if 2 * len(named) > len(folders):
            return named[0][: len(slug) + 1]
    parts = [folder.split("-") for folder in folders]
    shared = (
        takewhile(lambda words: len(set(words)) == 1, zip(*parts, strict=False)) if len(parts) > 1 else ()
    )
    return "".join(f"{words[0]}-" for words in shared)


def _last_commit(repository: Path) -> datetime | None:
    """The time of the checked-out commit; no setting of the repository can start a program."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # no program named by the repository fetches missing objects
        "GIT_TERMINAL_PROMPT": "0",
    }
    command = ["git", "--no-pager", "-c", "safe.directory=*"]
    command += [f"--git-dir={repository / '.git'}", "cat-file", "commit", "HEAD"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(rb"^committer .*> (\d{1,11}) [+-]\d{4}$", done.stdout, re.MULTILINE)
    return datetime.fromtimestamp(int(found[1]), UTC) if found else None
