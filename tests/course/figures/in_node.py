"""What a figure's module computes, asked through node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import course.figures
from course.figures import Figure

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


def evaluate(figure: Figure, expression: str, folder: Path) -> Any:
    """The JSON value of an expression in which `figure` is the module and `data` the figure's data."""
    (folder / "figure.mjs").write_text(figure.module())
    script = f"import * as figure from './figure.mjs'; const data = {figure.json()};"
    (folder / "run.mjs").write_text(f"{script} console.log(JSON.stringify({expression}));")
    run = subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def imported(path: str, expression: str, given: Any) -> Any:
    """The JSON value of an expression in which `module` is a file below `course/figures`."""
    module = (Path(course.figures.__file__).parent / path).as_uri()
    script = f"const module = await import({json.dumps(module)}), given = {json.dumps(given)};"
    command = ["node", "--input-type=module", "-e", f"{script} console.log(JSON.stringify({expression}));"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)
