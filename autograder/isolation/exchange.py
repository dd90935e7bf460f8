"""nbgrader's exchange, the folder through which it hands homework out and in, as far as settings name it."""

import ast
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from jupyter_core.paths import jupyter_config_path

SETTINGS = ("nbgrader_config", "jupyter_config", "jupyter_nbgrader_config")


def exchanges() -> Iterator[Path]:
    """The folders that settings of Jupyter, or of the current directory, name as `Exchange.root`.

    Settings are read and not run: where a submission is opened, a file of that name may be a student's.
    """
    for folder in (*jupyter_config_path(), "."):
        for name in SETTINGS:
            with contextlib.suppress(OSError, ValueError, SyntaxError, RecursionError, MemoryError):
                yield from _in_python(Path(folder, f"{name}.py").read_text(encoding="utf-8"))
            with contextlib.suppress(
                OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError
            ):
                found = json.loads(Path(folder, f"{name}.json").read_text(encoding="utf-8"))
                yield Path(found.get("Exchange", {})["root"])


def _in_python(text: str) -> Iterator[Path]:
    """The strings that are assigned to `c.Exchange.root`, anywhere in the text."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Attribute(attr="Exchange"), attr="root")],
                value=ast.Constant(str(root)),
            ):
                yield Path(root)
