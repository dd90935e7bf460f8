"""A homework's notebook in one language, as students got it and as the grader reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.languages.notebooks import in_language
from autograder.source.homework import TEXT_STUB
from autograder.source.released import SourceCell, released_texts, source_cells
from course.language import Language


@dataclass(frozen=True)
class Edition:
    """The language, the cells of the notebook in it, and the course's own text cells."""

    language: Language
    source: Sequence[SourceCell]
    texts: frozenset[str]


def edition(notebook: Mapping, language: Language) -> Edition:
    """The edition in a language of the instructor's notebook, which is in English."""
    translated = in_language(notebook, language)
    stub = language(TEXT_STUB)
    return Edition(language, source_cells(translated, stub), released_texts(translated, stub))
