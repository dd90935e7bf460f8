"""Flash cards for Anki: each lecture's question with its recap, and each symbol with its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from autograder.website.lecture_tables import recap, symbols
from autograder.website.path import lectures_in

# Anki reads these lines and asks nothing; a field is HTML, and \( … \) is a formula.
HEADER = "#separator:tab\n#html:true\n#notetype:Basic\n#deck:Language models from scratch\n#tags column:3\n"
FORMULA = re.compile(r"\$([^$]+)\$")
CODE = re.compile(r"`([^`]+)`")
STRONG, EMPHASIS = re.compile(r"\*\*([^*]+)\*\*"), re.compile(r"\*([^*\s][^*]*)\*")
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def flash_cards(lectures: Path) -> str:
    """The whole deck, one card per line: front, back and tag, separated by tabs."""
    return HEADER + "".join("\t".join(card) + "\n" for card in _cards(lectures))


def _cards(lectures: Path) -> Iterator[tuple[str, str, str]]:
    for lecture in lectures_in(lectures):
        path = lectures / f"{lecture.name}.ipynb"
        answers = "".join(f"<li>{in_html(sentence)}</li>" for sentence in recap(path))
        yield f"{escape(lecture.title)}<br>{in_html(lecture.question)}", f"<ul>{answers}</ul>", lecture.name
        for symbol in symbols(path):
            shape = f"<br>{in_html(symbol.shape)}" if symbol.shape else ""
            yield (
                f"{escape(lecture.title)}<br>{in_html(symbol.written)}",
                in_html(symbol.meaning) + shape,
                lecture.name,
            )


def in_html(markdown: str) -> str:
    r"""One line of a lecture as a field of a card: links become plain text, formulas are written \( … \)."""
    pieces = FORMULA.split(LINK.sub(r"\1", markdown).replace("\t", " "))
    return "".join(rf"\({escape(piece)}\)" if i % 2 else _words(piece) for i, piece in enumerate(pieces))


def _words(text: str) -> str:
    pieces = CODE.split(text)
    return "".join(
        f"<code>{escape(piece)}</code>" if i % 2 else _set(piece) for i, piece in enumerate(pieces)
    )


def _set(text: str) -> str:
    return EMPHASIS.sub(r"<em>\1</em>", STRONG.sub(r"<strong>\1</strong>", escape(text)))
