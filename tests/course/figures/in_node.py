"""What a figure's module computes, asked through node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import course.figures

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def call(figure: str, function: str, *arguments: Any) -> Any:
    """The JSON value of `function(...arguments)` from the figure's module."""
    module = Path(course.figures.__file__).with_name(f"{figure}.mjs").as_uri()
    script = (
        f"const figure = (await import({json.dumps(module)})).default;"
        f"console.log(JSON.stringify(figure.{function}(...{json.dumps(arguments)})))"
    )
    node = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(node.stdout)
