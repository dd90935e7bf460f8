"""A page of HTML that needs no network and runs no script, and the ways text gets into it."""

from __future__ import annotations

import html
import re
from importlib import resources

from autograder.markup import plain_text

# Nothing is loaded and no script runs, whatever a student may have smuggled into a message.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(heading: str, body: str) -> str:
    """A whole page, with its style in it."""
    style = resources.files("autograder.reporting").joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(heading)}</title><style>{style}</style></head><body>{body}</body></html>\n"
    )


def text(value: object) -> str:
    """Anything as text, escaped."""
    return html.escape(plain_text(str(value)))


def rich(words: str) -> str:
    """The course's own words, escaped, with code where they have backquotes."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(words))


def number(value: float) -> str:
    """A number of points: at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def anchor(student: str) -> str:
    """Where on the page a student's section is."""
    return "student-" + "".join(letter if letter.isalnum() else f"_{ord(letter):x}_" for letter in student)
