"""A course of one small homework and one small lecture, in a folder of its own."""

import shutil
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import nbgrader.api
import pytest
import torch
from grading import SHORT
from warm_levels import warm_with

from autograder.grading import pool

REPOSITORY = Path(__file__).parents[2]
MINI = Path(__file__).parent / "mini_homework"

LECTURE = """\
# %% [markdown]
# # A lecture

# %% setup

# %% [markdown]
# Say, do, look.

# %%
print(6 * 7)
"""


@pytest.fixture(scope="session", autouse=True)
def tables_version():
    """For each new gradebook nbgrader runs a program that tells the version of its tables: once is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nbgrader.api, "get_alembic_version", cache(nbgrader.api.get_alembic_version))
        yield


@pytest.fixture(scope="session")
def lay_out():
    """Lay a folder out as the repository is, with mini_homework as its only homework: lay_out(folder)."""

    def fill(folder):
        shutil.copytree(MINI, folder / "solutions" / MINI.name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "nbgrader_config.py"):
            shutil.copy(REPOSITORY / name, folder)
        (folder / "lectures").mkdir()
        (folder / "course" / "checks").mkdir(parents=True)
        (folder / "lectures" / "01_numbers.py").write_text(LECTURE)
        return folder

    return fill


@pytest.fixture
def course_folder(tmp_path, lay_out):
    """A course to do with as one likes."""
    return lay_out(tmp_path)


@pytest.fixture
def mini(course_folder):
    """The folder of mini_homework, free to be spoiled."""
    return course_folder / "solutions" / MINI.name


@pytest.fixture
def edit():
    """Replace a piece of a file that must be there: edit(path, old, new)."""

    def replace(path, old, new):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return replace


@contextmanager
def graded_from_the_shared_warm_process(short: bool):
    """Gradings start no warm process of their own; their limits are as they ask, or short."""

    @contextmanager
    def shared(unstarted):
        unstarted.level = unstarted.find_level()
        warm = warm_with(SHORT if short else unstarted.limits, unstarted.level.name)
        yield lambda: warm

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "warm_meanwhile", shared)
        yield


@pytest.fixture(scope="module")
def one_warm_process():
    """Every grading of this file has its students' processes from the one that all tests share."""
    with graded_from_the_shared_warm_process(short=True):
        yield


@pytest.fixture(scope="module")
def one_warm_process_with_any_limits():
    """The same, with the limits that each grading asks for."""
    with graded_from_the_shared_warm_process(short=False):
        yield


@pytest.fixture
def slow_import(tmp_path, monkeypatch):
    """The name of a module whose import takes until the alarm has rung, and then some."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_to_import").mkdir()
    (tmp_path / "slow_to_import" / "__init__.py").write_text("from slow_to_import.core import whole\n")
    (tmp_path / "slow_to_import" / "core.py").write_text(
        "import time\n"
        "begun = time.process_time()\n"
        "while time.process_time() < begun + 0.3: pass\n"
        "whole = True\n"
    )
    yield "slow_to_import"
    for name in ("slow_to_import", "slow_to_import.core"):
        sys.modules.pop(name, None)


@pytest.fixture
def one_thread():
    """A student's laptop with one core to spare."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
