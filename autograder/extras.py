"""Optional packages: imported where they are used, with a clear message if one is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class NotInstalled(ImportError):
    """An optional package is not installed; the message says how to get it."""


@contextlib.contextmanager
def needs(package: str, extra: str) -> Iterator[None]:
    """Import an optional package in this block; raises NotInstalled, which names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != package:
            raise
        raise NotInstalled(
            f"This needs the package {package}, which is not installed: `pip install -e '.[{extra}]'`.",
            name=package,
        ) from missing
