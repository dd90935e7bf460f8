"""The parts of the first page that are derived: how much the course contains, and how to cite it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from autograder.source.homework import HomeworkSource
from autograder.website.path import Lecture


def facts(lectures: Iterable[Lecture], homeworks: Iterable[HomeworkSource]) -> str:
    """How many lectures, homeworks and known mistakes there are, and how long the lectures take."""
    lectures, homeworks = list(lectures), list(homeworks)
    hours = sum(lecture.minutes for lecture in lectures) / 60
    exercises = sum(len(homework.asked) for homework in homeworks)
    mistakes = sum(len(homework.misconceptions) for homework in homeworks)
    parts = (
        f"{len(lectures)} lectures, {hours:.0f} hours to read",
        f"{len(homeworks)} homeworks, {exercises} exercises",
        f"{mistakes:,} mistakes known by name",
    )
    return Markup('<ul class="facts">{}</ul>\n').format(
        Markup("").join(map(Markup("<li>{}</li>").format, parts))
    )


def citation(path: Path) -> str:
    """The citation in BibTeX, from CITATION.cff. Raises ValueError if the file lacks a part."""
    text = path.read_text(encoding="utf-8")
    lines = [
        "@software{language_models_from_scratch,",
        f"  title = {{{_value(text, 'title')}}},",
        f"  author = {{{{{_value(text, 'name')}}}}},",
        f"  year = {{{_value(text, 'date-released')[:4]}}},",
        f"  version = {{{_value(text, 'version')}}},",
        f"  url = {{{_value(text, 'repository-code')}}}",
        "}",
    ]
    return Markup('<div class="highlight"><pre tabindex="0">{}</pre></div>\n').format("\n".join(lines))


def _value(text: str, key: str) -> str:
    found = re.search(rf"^[ -]*{key}: (.+)$", text, re.M)
    if not found:
        raise ValueError(f"CITATION.cff has no {key}")
    return found[1].strip()
