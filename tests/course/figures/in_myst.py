"""A page as MyST makes it, where its command is installed, without a theme and without a network."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

COMMAND = Path(__file__).parents[3] / "node_modules/.bin/myst"
needs_myst = pytest.mark.skipif(
    shutil.which("node") is None or not COMMAND.exists(), reason="mystmd is not installed: make lint-figures"
)
PROJECT = "version: 1\nproject: {title: figures}\nsite: {template: ./theme}\n"
THEME = "jtex: v1\ntitle: none\nkind: site\nbuild: {start: none}\n"


def made_by_myst(folder: Path, text: str) -> tuple[dict, Path]:
    """Build a site of one page in a folder that holds its modules; the page's tree, and the site's files."""
    (folder / "index.md").write_text(f"# Figures\n\n{text}")
    (folder / "myst.yml").write_text(PROJECT)
    (folder / "theme").mkdir()
    (folder / "theme/template.yml").write_text(THEME)
    command = [COMMAND, "build", "--site", "--ci"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "⛔" not in run.stdout + run.stderr, run.stdout + run.stderr
    assert "⚠" not in run.stdout + run.stderr, run.stdout + run.stderr
    built = folder / "_build/site"
    return json.loads((built / "content/index.json").read_text())["mdast"], built / "public"


def nodes(tree: dict, kind: str) -> list[dict]:
    """All nodes of a kind, in the order of the page."""
    here = [tree] if tree.get("type") == kind else []
    return here + [node for child in tree.get("children", []) for node in nodes(child, kind)]
