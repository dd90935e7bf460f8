"""The course as a site: lectures as they were executed, homework as it is released, pages made from both.

`site/` contains the hand-written pages; everything else is copied or derived into one folder, from which
Sphinx builds the pages. Nothing is fetched; only given cells of homework that need no answer are executed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from autograder.languages.outputs import in_script
from autograder.making.lectures import FOLDED_CELL, FOLDED_SOURCE
from autograder.source.address import Address
from autograder.source.loading import load, names
from autograder.website.building import building, homework_cards, homework_navigation
from autograder.website.front import citation, facts
from autograder.website.glossary import glossary
from autograder.website.homework_page import as_a_page
from autograder.website.mistakes import mistakes
from autograder.website.model_pages import model_cards, model_navigation, model_pages
from autograder.website.overview import overview
from autograder.website.path import lectures_in, path_of
from autograder.website.recaps import flash_cards
from autograder.website.site_figures import site_figures
from autograder.website.social import social_picture
from autograder.website.translated import index, settings, translated
from autograder.website.whole_site import not_found, sitemap
from course.language import ENGLISH, Language, say

TITLE = say("Language models from scratch")
STATIC = ("site.css", "site.js", "favicon.svg")
ONLY_IN_COLAB = ("badge", "setup")
IMPORTS = re.compile(r"import |from \w[\w.]* import ")
# A figure on a page need not wait until the page's own scripts have run.
WAITING, AT_ONCE = '<script type="module">', '<script type="module" async>'
RESULTS = re.compile(r"^\| `.* \| ([^|]+) \|$", re.M)  # in the last column, of a command in the first
NEEDED = {"sphinx": "sphinx", "myst_nb": "myst-nb", "jupyter_server_mathjax": "jupyter-server-mathjax"}

CONTENTS = """\
# For the instructor

What each homework asks, and which mistakes each of its checks finds. These pages name hidden checks and known
mistakes: they are not for students.

```{{toctree}}
:maxdepth: 1

{pages}
```
"""


class SiteError(RuntimeError):
    """The site cannot be built; the message says what is missing or what Sphinx reports."""


def make_site(root: Path, destination: Path | None = None) -> Path:
    """Assemble the sources and build the pages; returns the path of the first page. Raises SiteError."""
    destination = destination or root / "build" / "site"
    source = assemble(root, destination.with_name(f"{destination.name}-source"))
    pages = _start(root, source, destination)
    others = list(_translations(root, destination))
    first = pages.finished()
    for other in others:
        other.finished()
    address = Address.read(root).site
    (destination / "404.html").write_text(not_found(address), encoding="utf-8")
    if address:  # a sitemap names pages by their whole address
        (destination / "sitemap.xml").write_text(sitemap(destination, address), encoding="utf-8")
    return first


@dataclass(frozen=True)
class Pages:
    """Pages that Sphinx is making in a process of its own."""

    process: subprocess.Popen[str]
    destination: Path

    def finished(self) -> Path:
        """Wait for them; the path of the first one. Raises SiteError with what Sphinx reports."""
        _, reported = self.process.communicate()
        if self.process.returncode:
            raise SiteError(f"Sphinx reports:\n{reported.strip()}")
        return self.destination / "index.html"


def begin_overviews(root: Path) -> Pages:
    """Begin the pages for instructors in build/instructors, apart from the site. Raises SiteError.

    They name hidden checks and known mistakes, so they are never built among the pages to be published.
    """
    source = _frame(root, root / "build" / "instructors-source")
    homeworks = names(root)
    (source / "index.md").write_text(CONTENTS.format(pages="\n".join(homeworks)), encoding="utf-8")
    for name in homeworks:
        page = overview(load(root / "solutions" / name))
        (source / f"{name}.md").write_text(page, encoding="utf-8")
    return _start(root, source, root / "build" / "instructors")


def _translations(root: Path, destination: Path) -> Iterator[Pages]:
    """Begin the pages in every other language, each in its folder of the site."""
    for language, notebooks in translated(root):
        source = _frame(root, destination.with_name(f"{destination.name}-source-{language.name}"))
        for page, notebook in notebooks.items():
            if page.startswith("homeworks/"):
                notebook = as_a_page(notebook)
            _write(notebook, source / f"{page}.ipynb", language)
        (source / "index.md").write_text(index(language, TITLE, notebooks), encoding="utf-8")
        script = source / "_static" / "site.js"
        script.write_text(in_script(script.read_text(encoding="utf-8"), language), encoding="utf-8")
        yield _start(root, source, destination / language.name, language)


def _start(root: Path, source: Path, destination: Path, language: Language = ENGLISH) -> Pages:
    missing = [package for module, package in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise SiteError(f"{', '.join(missing)} missing; install the package with its [site] extra.")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", "auto"]
    command += [
        f"-D{name}={value}" for name, value in settings(language, TITLE).items() if language != ENGLISH
    ]
    environment = os.environ | {"COURSE_ROOT": str(root.resolve()), "SITE_LANGUAGE": language.name}
    process = subprocess.Popen(
        [*command, str(source), str(destination)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return Pages(process, destination)


def _frame(root: Path, source: Path) -> Path:
    """Rebuild a folder with what all pages share, and return it."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(root / "site", source, ignore=shutil.ignore_patterns("*.md"))
    for folder in ("_static", "extra"):  # the latter is copied as it is
        (source / folder).mkdir()
    for name in STATIC:
        shutil.move(source / name, source / "_static" / name)
    return source


def assemble(root: Path, source: Path) -> Path:
    """Rebuild a folder with everything the site is made from, and return it."""
    _frame(root, source)
    for page in (root / "site").glob("*.md"):
        shutil.copy(page, source)
    _copy((root / "lectures").glob("*.ipynb"), source / "lectures")
    shutil.copytree(root / "docs", source / "measured", ignore=unmeasured)
    homeworks = [
        load(root / "solutions" / name) for name in names(root) if (root / "homeworks" / name).is_dir()
    ]
    lectures = lectures_in(root / "lectures")
    hand_written = (root / "site" / "glossary.md").read_text(encoding="utf-8")
    made = {
        "glossary.md": glossary(hand_written, root / "lectures"),
        "facts.html": facts(lectures, homeworks),
        "path.html": path_of(lectures),
        "homeworks.html": homework_cards(homeworks),
        "homework_navigation.txt": homework_navigation(homeworks),
        "model_cards.html": model_cards(),
        "model_navigation.txt": model_navigation(),
        "citation.html": citation(root / "CITATION.cff"),
        "extra/recaps.txt": flash_cards(root / "lectures"),
    }
    made |= dict(model_pages())
    made |= {f"{name}.html": figure.html() for name, figure in site_figures().items()}
    (source / "_static" / "social.png").write_bytes(social_picture())
    for homework in homeworks:
        for path in (root / "homeworks" / homework.name).glob("*.ipynb"):
            notebook = json.loads(path.read_text(encoding="utf-8"))
            _write(as_a_page(notebook), source / "homeworks" / homework.name / path.name)
        made[f"building/{homework.name}.md"] = building(homework)
        made[f"mistakes/{homework.name}.md"] = mistakes(homework)
    for name, text in made.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text.replace(WAITING, AT_ONCE), encoding="utf-8")
    return source


def unmeasured(folder: str, files: Iterable[str]) -> list[str]:
    """The pages of a folder whose tables have no result yet: readers find nothing there."""
    pages = [name for name in files if name.endswith(".md")]
    results = {name: set(RESULTS.findall((Path(folder) / name).read_text("utf-8"))) for name in pages}
    return [name for name in pages if results[name] == {"not measured"}]


def in_json(text: str) -> str:
    """A text as it is written inside a JSON string."""
    return json.dumps(text)[1:-1]


def _copy(notebooks: Iterable[Path], folder: Path) -> None:
    """Copy the notebooks without the Colab badge, which is a button of the page here."""
    folder.mkdir(parents=True)
    for path in notebooks:
        _write(json.loads(path.read_text(encoding="utf-8")), folder / path.name)


def _fold_imports(cells: Iterable[dict]) -> None:
    """Fold the first code of a page if it imports and shows nothing: a page begins with what it says."""
    first = next((cell for cell in cells if cell["cell_type"] == "code"), None)
    if first and not first["outputs"] and IMPORTS.match("".join(first["source"])):
        first["metadata"].setdefault("tags", []).append(FOLDED_SOURCE)


def _name_answers(cells: Iterable[dict], language: Language) -> None:
    """A cell that is folded as a whole answers a prediction."""
    for cell in cells:
        if FOLDED_CELL in cell["metadata"].get("tags", ()):
            shown, hidden = language(say("Show the answer")), language(say("Hide the answer"))
            cell["metadata"]["mystnb"] = {"code_prompt_show": shown, "code_prompt_hide": hidden}


def _write(notebook: dict, path: Path, language: Language = ENGLISH) -> None:
    cells = [cell for cell in notebook["cells"] if cell["id"] not in ONLY_IN_COLAB]
    _fold_imports(cells)
    _name_answers(cells, language)
    text = json.dumps({**notebook, "cells": cells}).replace(in_json(WAITING), in_json(AT_ONCE))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
