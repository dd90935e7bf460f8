"""Make students' text harmless to anyone who opens it in a browser, without changing how it reads."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from typing import Any

# An invisible character that joins words: after `<` it prevents a tag, in prose and in code alike.
WORD_JOINER = "\u2060"

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_PICTURE = re.compile(r"!(?=\[)(?=\[[^\[\]\n]{0,200}\]\(attachment:([\w.%-]{1,200})\))?")
_ODD_LINK = re.compile(r"\](?=[(:](?!\s*(?:https?://|mailto:|#|attachment:)))", re.IGNORECASE)
_LONG_GAP = re.compile(r"(?<![^\S\n])[^\S\n]{200,}")  # which takes Markdown quadratic time
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# Commands from which MathJax or KaTeX makes links, styles, identifiers, pictures and further commands.
ACTIVE_LATEX = (
    *("href", "url", "mmlToken", "includegraphics", "unicode", "require", "csname"),
    *("style", "class", "cssId", "data", "bbox", "toggle", "mathtip", "texttip"),
    *("htmlClass", "htmlId", "htmlStyle", "htmlData"),
)
_ACTIVE_LATEX = re.compile(rf"\\(?=(?:{'|'.join(ACTIVE_LATEX)})(?![A-Za-z]))")

_STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


def harmless_markdown(text: str, pictures: Collection[str] = ()) -> str:
    """Markdown in which no tag opens, no picture is loaded, and links and LaTeX run nothing.

    pictures: the names of attached pictures; nbconvert fails if one is missing.
    """
    text = _LONG_GAP.sub(" " * 200, plain_text(text))
    text = _TAG.sub("<" + WORD_JOINER, text)
    text = _PICTURE.sub(lambda found: "!" if found[1] in pictures else "!" + WORD_JOINER, text)
    text = _ODD_LINK.sub("]" + WORD_JOINER, text)
    return _ACTIVE_LATEX.sub(r"\\" + WORD_JOINER, text)


def plain_text(text: str, *, limit: int | None = None) -> str:
    """Text without terminal controls, direction marks and lone surrogates, cut if it is too long."""
    text = _CONTROL.sub("", text)
    if limit is not None and len(text) > limit:
        return f"{text[:limit]} … ({len(text) - limit} more characters)"
    return text


def one_line(text: str) -> str:
    """Text for one line of a terminal or a table: white space becomes spaces, anything else invisible �."""
    seen = text.replace(WORD_JOINER, "")
    return "".join(" " if mark.isspace() else mark if mark.isprintable() else "�" for mark in seen)


def harmless_pictures(data: Mapping[str, Any]) -> dict[str, str]:
    """The pictures in a bundle by media type that really are PNG or JPEG."""
    return {kind: data[kind] for kind in _STARTS if is_picture(kind, data.get(kind))}


def is_picture(kind: str, content: Any) -> bool:
    if not isinstance(content, str):
        return False
    try:
        return base64.b64decode("".join(content.split()), validate=True).startswith(_STARTS[kind])
    except (binascii.Error, ValueError, KeyError):
        return False


def harmless_attachments(attachments: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The pictures a student pasted into a markdown cell, by file name."""
    bundles = {str(name): content for name, content in attachments.items() if isinstance(content, dict)}
    kept = {
        name: harmless_pictures(content)
        for name, content in bundles.items()
        if re.fullmatch(r"[\w .-]+", name)
    }
    return {name: pictures for name, pictures in kept.items() if pictures}
