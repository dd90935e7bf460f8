"""A course of one small homework and one small lecture, in a folder of its own."""

import shutil
from pathlib import Path

import pytest

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


@pytest.fixture
def course_folder(tmp_path):
    """A folder laid out as the repository is, with mini_homework as its only homework."""
    shutil.copytree(
        MINI, tmp_path / "solutions" / "mini_homework", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "nbgrader_config.py"):
        shutil.copy(REPOSITORY / name, tmp_path)
    (tmp_path / "lectures").mkdir()
    (tmp_path / "lectures" / "01_numbers.py").write_text(LECTURE)
    return tmp_path


@pytest.fixture
def mini(course_folder):
    """The folder of mini_homework, free to be spoiled."""
    return course_folder / "solutions" / "mini_homework"


@pytest.fixture
def edit():
    """Replace a piece of a file that must be there: edit(path, old, new)."""

    def replace(path, old, new):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return replace
