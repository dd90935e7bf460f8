"""Make everything that is generated from the sources: notebooks, fingerprints and releases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.checking.fingerprints import Tell
from autograder.making.products import homework_products, lecture_names, lecture_product, update
from autograder.making.release import is_out_of_date, release_homework, released_path
from autograder.source.loading import find, names, require_source


def build(
    root: Path,
    wanted: Sequence[str] = (),
    *,
    check: bool = False,
    execute: bool = False,
    tell: Tell = str,
) -> list[Path]:
    """Generate the files of the named homeworks and lectures (of all, if none is named).

    Homeworks that are already released are released again. Returns the files that were not up to date; with
    `check` they are left alone. `execute` runs the lectures; without it a lecture keeps its outputs while its
    code stays the same. `tell` receives a sentence before each step that takes long.
    """
    wanted = wanted or [*names(root), *lecture_names(root)]
    lectures = [name for name in wanted if name in lecture_names(root)]
    homeworks = [require_source(find(name, root)) for name in wanted if name not in lectures]
    stale = []
    for homework in homeworks:
        stale += update(homework_products(homework, root, tell), check=check)
    for name in lectures:
        stale += update([lecture_product(root, name, execute=execute)], check=check)
    for homework in homeworks:
        if is_out_of_date(root, homework):
            stale.append(released_path(root, homework.name))
            if not check:
                tell(f"{homework.name}: releasing the students' version again.")
                release_homework(homework, root)
    return stale
