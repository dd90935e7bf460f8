"""The path of lectures on the first page: chapters of cards, each a picture, a question and its minutes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from autograder.website.thumbnails import thumbnail

QUESTION = re.compile(r"\*\*The question of the day:\*\* (.+)")
MINUTES = re.compile(r"\*(\d+) minutes to read")

CHAPTER = Markup('<section class="chapter wide"><h3>{}</h3><p>{}</p><ol class="path">')
CARD = Markup(
    '<li data-lecture="{name}">{picture}<a href="lectures/{name}.html">{title}</a>'
    "<span>{question}</span><small>{minutes} minutes</small></li>"
)

# A chapter: its title, what it is about, and its first lecture.
CHAPTERS = (
    ("Count", "A model is a table of what came next.", "00"),
    ("Learn", "Words get vectors, and gradients find them.", "05"),
    ("Remember", "A state carries along what has been read.", "07"),
    ("Look back", "Every word attends to all the words before it.", "12"),
    ("Go further", "Read in both directions, translate, and look back at the whole path.", "17"),
)


@dataclass(frozen=True)
class Lecture:
    """What the beginning of a lecture says about it; `name` is its file name without the ending."""

    name: str
    title: str
    question: str
    minutes: int


def lectures_in(folder: Path) -> list[Lecture]:
    """The lectures in their order, read from their first cells.

    Raises ValueError if a title, a question or the minutes are missing.
    """
    return [_read(path) for path in sorted(folder.glob("*.ipynb"))]


def _read(path: Path) -> Lecture:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells[:4] if cell["cell_type"] == "markdown")
    title, question, minutes = re.search(r"^# (.+)", text, re.M), QUESTION.search(text), MINUTES.search(text)
    if not (title and question and minutes):
        raise ValueError(f"{path}: expected a title, a question of the day and its minutes at the beginning")
    return Lecture(path.stem, title[1], question[1][0].upper() + question[1][1:], int(minutes[1]))


def path_of(lectures: Iterable[Lecture]) -> str:
    """All cards, by chapter, as HTML for a page beside the folder `lectures`."""
    lectures = list(lectures)
    ends = [*(first for *_, first in CHAPTERS[1:]), "99"]
    chapters = (
        (title, about, [each for each in lectures if first <= each.name < end])
        for (title, about, first), end in zip(CHAPTERS, ends, strict=True)
    )
    return "\n".join(line for chapter in chapters if chapter[2] for line in _chapter(*chapter))


def _chapter(title: str, about: str, lectures: list[Lecture]) -> Iterator[str]:
    yield CHAPTER.format(title, about)
    for each in lectures:
        yield CARD.format(picture=thumbnail(each.name), **vars(each))
    yield "</ol></section>"
