"""Pages made from the templates beside this file, in which every value is escaped unless it is our markup.

A page needs no network and runs no script; its Content-Security-Policy tells the browser so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.markup import plain_text
from autograder.reporting.prose import prose
from course.language import Language, Said

HERE = Path(__file__).parent


def render(template: str, *, folder: Path = HERE, **values: object) -> Markup:
    """Fill a template with these values; a missing value is an error.

    folder: where to look for the template first.
    """
    return Markup(_pages(folder).get_template(template).render(**values))


@cache
def _pages(folder: Path) -> Environment:
    pages = Environment(
        loader=FileSystemLoader([folder, HERE]),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters.update(prose=prose, number=number, anchor=anchor, link=link, markup=Markup, strong=strong)
    return pages


def _shown(value: object) -> str:
    """A value for the template: Jinja escapes a str, and leaves a Markup unchanged."""
    return value if isinstance(value, Markup) else plain_text(str(value))


def speaking(language: Language) -> Callable[..., Markup]:
    """`say` for a template: a sentence in a language, in which every value is escaped unless it is markup."""

    def said(template: str, **values: object) -> Markup:
        shown = {name: _said(value, language) for name, value in values.items()}
        return Markup(language(template)).format(**shown)

    return said


def _said(value: object, language: Language) -> str:
    return _shown(language(value) if isinstance(value, Said) else value)


def strong(value: str) -> Markup:
    """The value in bold."""
    return Markup("<b>{}</b>").format(_shown(value))


def number(value: float) -> str:
    """A number of points: at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def anchor(student: str) -> str:
    """The anchor of a student's section on the page."""
    return "student-" + "".join(letter if letter.isalnum() else f"_{ord(letter):x}_" for letter in student)


def link(student: str) -> Markup:
    """The student's name, as a link to that section."""
    return Markup('<a href="#{}">{}</a>').format(anchor(student), plain_text(student))
