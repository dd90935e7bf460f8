"""The tests of `serve` are skipped, with a reason, where what it needs is not installed."""

from importlib.util import find_spec

import pytest

NEEDED = ("starlette", "uvicorn", "python_multipart", "itsdangerous", "authlib", "joserfc", "httpx2", "jwt")
MISSING = [name for name in NEEDED if find_spec(name) is None]


class Skipped(pytest.Module):
    """A file whose imports would fail."""

    def collect(self):
        pytest.skip(f"`pip install -e '.[dev]'` brings {', '.join(MISSING)}")


def pytest_pycollect_makemodule(module_path, parent):
    return Skipped.from_parent(parent, path=module_path) if MISSING else None
