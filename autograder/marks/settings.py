"""The settings in the course's nbgrader_config.py."""

from __future__ import annotations

import traceback
from pathlib import Path

from traitlets.config import Config, PyFileConfigLoader


class CourseSettingsError(ValueError):
    """The course's nbgrader_config.py stops with an error; the message says with which, and in which line."""


def course_config(root: Path, gradebook: str | None = None) -> Config:
    """The settings in nbgrader_config.py under root, as a traitlets Config with that root.

    gradebook: the URL of a database to use instead. Raises CourseSettingsError, GradebookUnavailable.
    """
    path = root / "nbgrader_config.py"
    try:
        config = PyFileConfigLoader(path.name, path=str(root)).load_config()
    except (SyntaxError, ImportError, AttributeError, NameError, TypeError) as error:
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
        ]
        where = f", line {lines[-1]}" if lines else ""
        raise CourseSettingsError(
            f"{path}{where} cannot be used ({type(error).__name__}: {error}). If it is of an earlier "
            "version, take the one that comes with this version, and put your own settings into it again."
        ) from error
    config.CourseDirectory.root = str(root)
    if url := gradebook or config.CourseDirectory.get("db_url"):
        from autograder.marks.database import with_driver

        config.CourseDirectory.db_url = with_driver(url)
    return config
