"""The fingerprints of a text: of every run of a few characters, names counted as one.

After Schleimer, Wilkerson and Aiken, "Winnowing", 2003, with a window of one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from autograder.extras import needs

with needs("pygments", "instructor"):
    from pygments.lexers.python import PythonLexer
    from pygments.token import Comment, Name, String, Text

GRAM = 25  # characters that must agree in a row, counted as below
LONGEST = 20_000  # characters of an answer that are compared; an honest one has a tenth of it

VARIABLES = (Name, Name.Variable, Name.Attribute)  # but not those of the language: print, None, __init__


class Prints:
    """Where in a text each of its fingerprints is; in prose, words count as they are, but for case."""

    def __init__(self, text: str, *, is_prose: bool = False) -> None:
        text = text[:LONGEST]
        text = " ".join(text.lower().split()) if is_prose else "".join(_signs(text))
        self.length = len(text)
        places: defaultdict[int, list[int]] = defaultdict(list)
        for place in range(self.length - GRAM + 1):
            places[hash(text[place : place + GRAM])].append(place)
        self.places = dict(places)

    def covered(self, marks: Iterable[int]) -> int:
        """How many characters these fingerprints cover."""
        starts = np.array([place for mark in marks for place in self.places[mark]], dtype=int)
        steps = np.zeros(self.length + 1, dtype=int)
        steps[starts] += 1  # each place once: no two marks begin at the same
        steps[starts + GRAM] -= 1
        return int((steps.cumsum() > 0).sum())


def _signs(code: str) -> Iterator[str]:
    """Python without its spaces and comments, in which each name and each piece of a string is one letter."""
    for kind, text in PythonLexer().get_tokens(code):
        if kind in VARIABLES:
            yield "V"
        elif kind in Name.Function or kind in Name.Class:
            yield "F" if kind in Name.Function else "O"
        elif kind in String:
            yield '"' if text in ("'", '"') else "S"
        elif kind not in Text and kind not in Comment:
            yield text
