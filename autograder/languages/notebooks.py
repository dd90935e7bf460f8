"""A notebook in another language: texts, free cells and outputs are translated, graded cells are not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from autograder.languages.outputs import in_figures, shown
from autograder.languages.texts import is_free, outside_solutions
from course.language import BETWEEN, ENGLISH, Language, paragraphs

KEY = "language"  # of a notebook's metadata; English notebooks have none
SESSION = re.compile(r'^(check = homework\("\w+")\)$', re.MULTILINE)


def in_language(notebook: Mapping, language: Language) -> dict:
    """The notebook with translated cells, whose checks and figures speak the language; English as it is."""
    if language.translations is None:
        return dict(notebook)
    cells = [_translated(cell, language) for cell in notebook["cells"]]
    return {**notebook, "cells": cells, "metadata": {**notebook["metadata"], **in_metadata(language)}}


def in_metadata(language: Language) -> dict:
    """How a notebook's metadata say that it is in a language."""
    return {} if language.translations is None else {KEY: language.name}


def language_in(notebook: Mapping) -> str:
    """The language that a notebook names, "en" if none; it may be the name of nothing."""
    said = notebook.get("metadata")
    name = said.get(KEY) if isinstance(said, dict) else None
    return name if isinstance(name, str) else ENGLISH.name


def language_of_release(root: Path, name: str) -> str:
    """The language in which a homework was last released; "en" if it was not."""
    path = root / "homeworks" / name / f"{name}.ipynb"
    return language_in(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else ENGLISH.name


def _translated(cell: Mapping, language: Language) -> dict:
    made = {**cell, "source": _source(cell, language)}
    return made | {"outputs": _outputs(cell, language)} if cell.get("outputs") else made


def _outputs(cell: Mapping, language: Language) -> list[dict]:
    outputs = shown(cell, lambda text, _: language(text))
    pages = [output.get("data", {}) for output in outputs]
    for data in pages:
        if "text/html" in data:
            data["text/html"] = in_figures(data["text/html"], language)
    return outputs


def _source(cell: Mapping, language: Language) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        told = set(outside_solutions(source))
        return BETWEEN.join(language(one) if one in told else one for one in paragraphs(source))
    if cell["id"] != "setup" and is_free(cell):
        source = language(source)
    return SESSION.sub(rf'\1, language="{language.name}")', source)
