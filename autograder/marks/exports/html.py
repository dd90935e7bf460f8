"""Convert our comments from Markdown to the limited HTML that learning management systems show."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_PIECES = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*")
_TAGS = ("code", "strong", "em")


def as_html(markdown: str) -> Markup:
    """Paragraphs, code, bold and emphasis; every other character is text, and none begins a tag."""
    paragraphs = (part.strip() for part in markdown.split("\n\n"))
    return Markup("").join(Markup("<p>{}</p>").format(_inline(part)) for part in paragraphs if part)


def _inline(text: str) -> Markup:
    made: list[Markup] = []
    end = 0
    for piece in _PIECES.finditer(text):
        tag, inside = next((tag, said) for tag, said in zip(_TAGS, piece.groups(), strict=True) if said)
        made += [escape(text[end : piece.start()]), Markup(f"<{tag}>{{}}</{tag}>").format(inside)]
        end = piece.end()
    return Markup("").join([*made, escape(text[end:])]).replace("\n", Markup("<br>"))
