"""The site's pages in other languages: one folder for each, built like the site and beside it.

A folder holds what is translated: lectures with the outputs of the English ones, and homework as it would be
released. Links to anything else lead to the English pages; `site/conf.py` adds those between a page and its
translations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.languages.catalogues import folder_of, language_of, languages
from autograder.languages.notebooks import in_language
from autograder.making.products import lecture_names
from autograder.source.loading import names
from course.language import Language, say

LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)?(?:(homeworks)/(\w+)/)?(\w+)\.ipynb\)")

INDEX = say(
    "Language models from counting words to the Transformer, in Python and PyTorch, with figures that you "
    "can try. Here is what is translated so far; all other pages are in English."
)


def translated(root: Path) -> Iterator[tuple[Language, dict[str, dict]]]:
    """Each language, with its notebooks by their pages: `lectures/00_welcome`."""
    for name in languages(root):
        there = {path.stem for path in (folder_of(root) / name).glob("*.po")}
        pages = {f"lectures/{one}": one for one in lecture_names(root) if one in there}
        pages |= {f"homeworks/{one}/{one}": one for one in names(root) if one in there}
        files = {page: root / f"{page}.ipynb" for page in pages}
        notebooks = {
            page: in_language(
                json.loads(path.read_text(encoding="utf-8")), language_of(root, name, pages[page])
            )
            for page, path in files.items()
            if path.is_file()
        }
        if notebooks:
            yield (
                language_of(root, name),
                {page: _linked(made, notebooks) for page, made in notebooks.items()},
            )


def _linked(notebook: dict, pages: Mapping[str, object]) -> dict:
    """The notebook, in which links to pages that are not translated lead to the English ones."""

    def link(found: re.Match[str]) -> str:
        text, kind, folder, name = found.groups()
        page = f"homeworks/{folder}/{name}" if kind else f"lectures/{name}"
        return found[0] if page in pages else f'<a href="../../{page}.html">{text}</a>'

    cells = [
        {**cell, "source": LINK.sub(link, "".join(cell["source"]))}
        if cell["cell_type"] == "markdown"
        else cell
        for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


def index(language: Language, title: str, pages: Mapping[str, object]) -> str:
    """The first page of a language, in Markdown."""
    lines = [
        f"# {language(title)}",
        "",
        language(INDEX),
        "",
        "```{toctree}",
        ":maxdepth: 1",
        "",
        *pages,
        "```",
        "",
    ]
    return "\n".join(lines)


def settings(language: Language, title: str) -> dict[str, str]:
    """What Sphinx writes on every page and on folded cells."""
    return {
        "project": language(title),
        "html_title": language(title),
        "html_theme_options.search_bar_text": language(say("Search...")),
        "nb_code_prompt_show": language(say("Show")),
        "nb_code_prompt_hide": language(say("Hide")),
    }
