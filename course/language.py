"""What a student reads, in the student's language: sentences that remember their templates, and languages.

Sentences are written in English where they are needed, and each is one template with named places:

    say("the shape is {found} where {expected} is expected", found=(2, 5), expected=(5, 2))

The result is the English sentence, a string like any other. A `Language` can say it again, because it
remembers its template and its values, which may be such sentences themselves. What is not translated, and
every value, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gettext import NullTranslations

FOLDER = Path(__file__).with_name("languages")  # a compiled catalogue for each language but English
BETWEEN = "\n\n"  # two paragraphs of a text


class Said(str):
    """An English sentence that remembers how it was made; see `say`, `say_count`, `joined` and `shaped`."""

    template: str
    many: str  # the template for other counts than one; "" if the sentence counts nothing
    number: int  # how many
    values: Mapping[str, object]
    shape: Callable[[str], str] | None  # what is done with the sentence in any language

    def __new__(
        cls,
        template: str,
        values: Mapping[str, object],
        many: str = "",
        number: int = 1,
        shape: Callable[[str], str] | None = None,
    ) -> Said:
        """Raises KeyError if the template has a place without a value."""
        said = super().__new__(cls, _filled(many if many and number != 1 else template, values, shape))
        said.template, said.values, said.many, said.number, said.shape = template, values, many, number, shape
        return said

    def __reduce__(self) -> tuple:
        return Said, (self.template, self.values, self.many, self.number, self.shape)


def say(template: str, /, **values: object) -> Said:
    """The template with its places filled in; without values it is taken as it is, braces included."""
    return template if isinstance(template, Said) and not values else Said(template, values)


def say_count(one: str, many: str, count: int, /, **values: object) -> Said:
    """The template for one or that for many, which may have a place {count}, as the language counts."""
    return Said(one, {"count": count, **values}, many, count)


def joined(separator: str, parts: Iterable[object]) -> Said:
    """The parts, sentences or other values, with the separator between them; empty ones are left out."""
    values = {f"part_{place}": part for place, part in enumerate(part for part in parts if part != "")}
    return Said(separator.join(f"{{{name}}}" for name in values), values)


def shaped(text: str, shape: Callable[[str], str]) -> Said:
    """What `shape`, a function of a module, makes of the text, in whichever language it is said."""
    return Said("{text}", {"text": say(text)}, shape=shape)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text in Markdown, each translated by itself; a block of code is never divided."""
    found: list[str] = []
    for piece in text.split(BETWEEN):
        if found and found[-1].count("```") % 2:
            found[-1] += BETWEEN + piece
        else:
            found.append(piece)
    return found


def _filled(template: str, values: Mapping[str, object], shape: Callable[[str], str] | None) -> str:
    text = template.format(**values) if values else template
    return shape(text) if shape else text


@dataclass(frozen=True)
class Language:
    """Says sentences in one language; those without a translation stay in English.

    Besides what `say` has made, it translates whole paragraphs that stand in its catalogue word for word.
    """

    name: str = "en"
    translations: NullTranslations | None = None

    def __call__(self, text: str) -> str:
        """The sentence in this language."""
        if self.translations is None or not text:
            return text
        if not isinstance(text, Said):
            return self.translations.gettext(text)
        values = {
            name: self(value) if isinstance(value, Said) else value for name, value in text.values.items()
        }
        if text.many:
            template = self.translations.ngettext(text.template, text.many, text.number)
        else:
            template = self.translations.gettext(text.template) if text.template else ""
        return _filled(template, values, text.shape)

    def text(self, text: str) -> str:
        """A text of several paragraphs, each of them translated."""
        return BETWEEN.join(self(paragraph) for paragraph in paragraphs(text))


ENGLISH = Language()


@cache
def language(name: str) -> Language:
    """The language of this name, such as "de"; English if there is no catalogue for it."""
    path = {path.stem: path for path in FOLDER.glob("*.mo")}.get(name)
    if path is None:
        return ENGLISH
    from gettext import GNUTranslations

    with path.open("rb") as file:
        return Language(name, GNUTranslations(file))
