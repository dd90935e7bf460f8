"""Pages made of the templates beside this file, in which every value is escaped unless it is our own markup.

A page needs no network and runs no script; its Content-Security-Policy tells the browser so.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.markup import plain_text
from autograder.reporting.prose import prose

HERE = Path(__file__).parent


def render(template: str, *, folder: Path = HERE, **values: object) -> Markup:
    """What a template makes of these values; one that it needs and does not get is an error.

    folder: where it is looked for before it is looked for here.
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
    pages.filters.update(prose=prose, number=number, anchor=anchor, link=link, markup=Markup)
    return pages


def _shown(value: object) -> str:
    """A value as the template shows it: Jinja escapes a str, and leaves a Markup as it is."""
    return value if isinstance(value, Markup) else plain_text(str(value))


def number(value: float) -> str:
    """A number of points: at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def anchor(student: str) -> str:
    """Where on the page a student's section is."""
    return "student-" + "".join(letter if letter.isalnum() else f"_{ord(letter):x}_" for letter in student)


def link(student: str) -> Markup:
    """The student's name, leading to that section."""
    return Markup('<a href="#{}">{}</a>').format(anchor(student), plain_text(student))
