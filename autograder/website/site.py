"""The course as a site: lectures as they were executed, homework as it is released, pages made from both.

`site/` holds what a person writes; everything else is copied or derived into one folder, from which Sphinx
makes the pages. Nothing is executed and nothing is fetched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from autograder.source.loading import load, names
from autograder.website.site_pages import glossary, mistakes

STATIC = ("site.css", "site.js", "favicon.svg")
ONLY_IN_COLAB = ("badge", "setup")
# As notebooks' JSON holds them: a figure on a page need not wait until the page's own scripts have run.
WAITING, AT_ONCE = r"<script type=\"module\">", r"<script type=\"module\" async>"
NEEDED = {"sphinx": "sphinx", "myst_nb": "myst-nb", "jupyter_server_mathjax": "jupyter-server-mathjax"}


class SiteError(RuntimeError):
    """The site cannot be made; the message says what is missing or what Sphinx minds."""


def make_site(root: Path, destination: Path | None = None) -> Path:
    """Assemble the sources and make the pages; the path of the first page. Raises SiteError."""
    missing = [package for module, package in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise SiteError(f"{', '.join(missing)} missing; install the package with its [site] extra.")
    destination = destination or root / "build" / "site"
    source = assemble(root, destination.with_name(f"{destination.name}-source"))
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", "auto"]
    environment = os.environ | {"COURSE_ROOT": str(root.resolve())}
    done = subprocess.run(
        [*command, str(source), str(destination)], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SiteError(f"Sphinx minds something:\n{done.stderr.strip()}")
    return destination / "index.html"


def assemble(root: Path, source: Path) -> Path:
    """Everything the site is made from, in a folder that is made anew; the folder."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(root / "site", source)
    (source / "_static").mkdir()
    for name in STATIC:
        shutil.move(source / name, source / "_static" / name)
    _copy((root / "lectures").glob("*.ipynb"), source / "lectures")
    shutil.copytree(root / "docs", source / "measured")
    (source / "glossary.md").write_text(glossary(), encoding="utf-8")
    (source / "mistakes").mkdir()
    for name in filter(lambda name: (root / "homeworks" / name).is_dir(), names(root)):
        _copy((root / "homeworks" / name).glob("*.ipynb"), source / "homeworks" / name)
        page = mistakes(load(root / "solutions" / name))
        (source / "mistakes" / f"{name}.md").write_text(page, encoding="utf-8")
    return source


def _copy(notebooks: Iterable[Path], folder: Path) -> None:
    """The notebooks without what is of use in Colab only: its badge is a button of the page here."""
    folder.mkdir(parents=True)
    for path in notebooks:
        content = json.loads(path.read_text(encoding="utf-8"))
        content["cells"] = [cell for cell in content["cells"] if cell["id"] not in ONLY_IN_COLAB]
        text = json.dumps(content).replace(WAITING, AT_ONCE)
        (folder / path.name).write_text(text, encoding="utf-8")
