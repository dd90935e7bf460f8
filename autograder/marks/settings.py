"""The settings in the course's nbgrader_config.py."""

from __future__ import annotations

from pathlib import Path

from traitlets.config import Config, PyFileConfigLoader


def course_config(root: Path, gradebook: str | None = None) -> Config:
    """The settings in nbgrader_config.py under root, as a traitlets Config with that root.

    gradebook: the URL of a database to use instead.
    """
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.CourseDirectory.root = str(root)
    if url := gradebook or config.CourseDirectory.get("db_url"):
        from autograder.marks.database import with_driver

        config.CourseDirectory.db_url = with_driver(url)
    return config
