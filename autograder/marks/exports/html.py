"""Convert our comments from Markdown to the limited HTML that learning management systems show."""

from __future__ import annotations

import html
import re

_PIECES = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*")
_TAGS = ("code", "strong", "em")


def as_html(markdown: str) -> str:
    """Paragraphs, code, bold and emphasis; every other character is text, and none begins a tag."""
    paragraphs = (part.strip() for part in markdown.split("\n\n"))
    return "".join(f"<p>{_inline(part)}</p>" for part in paragraphs if part)


def _inline(text: str) -> str:
    made, end = [], 0
    for piece in _PIECES.finditer(text):
        tag, inside = next((tag, said) for tag, said in zip(_TAGS, piece.groups(), strict=True) if said)
        made += [html.escape(text[end : piece.start()]), f"<{tag}>{html.escape(inside)}</{tag}>"]
        end = piece.end()
    return "".join([*made, html.escape(text[end:])]).replace("\n", "<br>")
