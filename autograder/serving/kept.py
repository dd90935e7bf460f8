"""What `serve` keeps beside the gradebook, for a backup."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

from autograder.extras import needs
from autograder.marks.backup import Database, database
from autograder.serving import attempts, rubrics
from autograder.serving.run import database_url
from autograder.serving.settings import FILE, read_settings


def kept(root: Path, backup: Path | None = None) -> list[Database]:
    """The database of attempts, verdicts, rubrics and line items; [] if neither course nor backup has it."""
    settings = read_settings(root)
    used = any((root / name).exists() for name in (FILE, "serve.db"))
    if not used and not (backup and _holds_website(backup)):
        return []
    with needs("httpx2", "serve"):
        from autograder.serving import line_items
    tables = [table for one in (attempts, rubrics, line_items) for table in one.TABLES.sorted_tables]
    one = database("serve.db", database_url(root, settings), tables, (attempts.ATTEMPT, "attempts"))
    return [replace(one, refers={"item": rubrics.ITEM.c.number})]


def _holds_website(backup: Path) -> bool:
    if not zipfile.is_zipfile(backup):
        return False
    with zipfile.ZipFile(backup) as archive:
        return "serve.db" in archive.namelist()
