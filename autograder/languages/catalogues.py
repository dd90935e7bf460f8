"""Catalogues in gettext's format: `languages/de/checks.po` and others, one for each part of the course.

checks      what checks say in notebooks and in feedback
figures     what interactive figures say, and the site's pages
grader      what else a student is told about a submission
NAME        a homework or a lecture
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from gettext import GNUTranslations
from pathlib import Path
from string import Formatter
from typing import Any

from babel.core import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po, write_po

from autograder.languages.code import same_code
from autograder.languages.texts import FIXED, Text
from course.language import ENGLISH, Language

CHECKS, GRADER, FIGURES = "checks", "grader", "figures"
EVERYWHERE = (CHECKS, GRADER, FIGURES)  # catalogues that every language has
FLAGS = ("code", "output", "template")  # of a text, that decide how its translation is compared with it
NUMBER = re.compile(r"\d+(?:\.\d+)?")
WIDTH = 100
NO_DATE = datetime.fromtimestamp(0, UTC)  # of a file that depends on nothing but its content

# Nothing in it changes with the day or the machine.
HEADER = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"Plural-Forms: {plural}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


class CatalogueError(ValueError):
    """A catalogue that cannot be read or begun; the message names it."""


def folder_of(root: Path) -> Path:
    """The folder that has one folder of catalogues for each language."""
    return root / "languages"


def languages(root: Path, name: str = CHECKS) -> list[str]:
    """The languages that have a catalogue of this name."""
    return sorted(path.parent.name for path in folder_of(root).glob(f"*/{name}.po"))


def read(path: Path) -> Catalog:
    """The catalogue in a file; raises CatalogueError."""
    try:
        with path.open("rb") as file:
            return read_po(file, locale=path.parent.name, abort_invalid=True)
    except (PoFileError, ValueError, UnknownLocaleError) as problem:
        raise CatalogueError(f"{path} is not a catalogue: {problem}") from problem


def new(language: str, name: str) -> Catalog:
    """An empty catalogue; raises CatalogueError for a language that nobody knows."""
    try:
        Locale.parse(language)
    except (ValueError, UnknownLocaleError) as problem:
        raise CatalogueError(f"{language} is not the code of a language, such as de or pt_BR.") from problem
    return Catalog(language, project=name, fuzzy=False)


def template(texts: Iterable[Text]) -> Catalog:
    """The catalogue of all texts, without translations."""
    made = Catalog(fuzzy=False)
    for text in texts:
        known = made.get(text.english)
        ids = (text.english, text.many) if text.many else text.english
        where: Any = (text.where, None)  # a place without the number of a line, which changes with every edit
        flags = {flag for flag in FLAGS if getattr(text, f"is_{flag}")}
        if known is None:
            made.add(ids, locations=[where], flags=flags)
        elif where not in known.locations:
            known.locations.append(where)
    return made


def merged(catalogue: Catalog, texts: Catalog) -> Catalog:
    """The catalogue with exactly these texts: translations are kept, and fuzzy where the English changed."""
    catalogue.update(texts)
    for key, message in [*catalogue.obsolete.items()]:
        if not any(_forms(message.string)):
            del catalogue.obsolete[key]
    for message in catalogue:
        if message.id:
            known = texts.get(_key(message))
            message.flags = set(message.flags) & {"fuzzy"} | (known.flags if known else set())
    return catalogue


def as_text(catalogue: Catalog) -> str:
    """The catalogue as the text of a file, the same for the same content."""
    file = io.BytesIO()
    write_po(file, catalogue, width=WIDTH, omit_header=True, include_lineno=False)
    locale = str(catalogue.locale)
    return HEADER.format(language=locale, plural=catalogue.plural_forms) + file.getvalue().decode()


def stale(catalogue: Catalog, texts: Catalog) -> Iterator[str]:
    """A line for each text without a valid translation, and for each translation without a text."""
    for message in texts:
        if message.id:
            known = catalogue.get(_key(message))
            if problem := _problem(message, known):
                yield f"{problem}: {_shown(message)}"
    known_texts = {_key(message) for message in texts}
    gone = [message for message in catalogue if message.id and _key(message) not in known_texts]
    for message in [*gone, *catalogue.obsolete.values()]:
        yield f"no longer in the course: {_shown(message)}"


def _key(message: Message) -> str:
    return _forms(message.id)[0]


def _forms(said: object) -> tuple[str, ...]:
    """The forms of a text for one and for many; most texts have only one."""
    return tuple(map(str, said)) if isinstance(said, list | tuple) else (str(said or ""),)


def _shown(message: Message) -> str:
    text = " ".join(_key(message).split())
    return text if len(text) < WIDTH else f"{text[: WIDTH - 1]}…"


def _problem(english: Message, known: Message | None) -> str:
    if known is None:
        return "not in the catalogue"
    said = _forms(known.string)
    if not all(said):
        return "not translated"
    if known.fuzzy:
        return "the English has changed"
    ids = _forms(english.id)
    if "code" in english.flags:
        return "" if all(same_code(one, _key(english)) for one in said) else "other code than the original"
    if "output" in english.flags:
        numbers = NUMBER.findall(_key(english))
        return (
            "" if all(NUMBER.findall(one) == numbers for one in said) else "other numbers than the original"
        )
    if "template" in english.flags:
        needed, known_places = places(ids[-1]), set().union(*map(places, ids))
        fits = all(needed - {"count"} <= places(one) <= known_places for one in said)
        return "" if fits else "other places than the original"
    fixed = sorted(FIXED.findall(_key(english)))
    fits = all(sorted(FIXED.findall(one)) == fixed for one in said)
    return "" if fits else "other formulas, code, markup or links than the original"


def places(template: str) -> set[str]:
    """The places of a template: {"found", "expected"}; raises CatalogueError if it cannot be read."""
    try:
        parts = [(name, form, kind) for _, name, form, kind in Formatter().parse(template) if name]
    except ValueError as problem:
        raise CatalogueError(f"{template!r} cannot be filled in: {problem}") from problem
    return {":".join(filter(None, part)) for part in parts}


def compiled(catalogues: Iterable[Catalog], only: set[str] | None = None) -> bytes:
    """Valid translations of several catalogues in the form that Python's gettext reads."""
    first, *others = catalogues
    whole = Catalog(first.locale, creation_date=NO_DATE, fuzzy=False)
    for catalogue in (first, *others):
        for message in catalogue:
            is_wanted = only is None or catalogue is first or _key(message) in only
            if message.id and message.string and not message.fuzzy and is_wanted:
                whole.add(message.id, message.string)
    file = io.BytesIO()
    write_mo(file, whole)
    return file.getvalue()


@cache
def language_of(root: Path, name: str, *parts: str) -> Language:
    """A language with the catalogues of these parts of the course; English if it has none of them.

    name: may be anything that a submission says; it is compared with the languages there are.
    """
    if name not in languages(root):
        return ENGLISH
    paths = [folder_of(root) / name / f"{part}.po" for part in (*EVERYWHERE, *parts)]
    found = compiled([read(path) for path in paths if path.is_file()])
    return Language(name, GNUTranslations(io.BytesIO(found)))
