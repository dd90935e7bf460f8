"""What the course's nbgrader_config.py says."""

from __future__ import annotations

from pathlib import Path

from traitlets.config import Config, PyFileConfigLoader


def course_config(root: Path, gradebook: str | None = None) -> Config:
    """What nbgrader_config.py under root says, as a traitlets Config with that root.

    gradebook: the URL of another database than it says.
    """
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.CourseDirectory.root = str(root)
    if url := gradebook or config.CourseDirectory.get("db_url"):
        from autograder.marks.database import with_driver

        config.CourseDirectory.db_url = with_driver(url)
    return config
