"""The glossary's tables: the symbols of all lectures, and the names in code with what others call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.reporting.prose import typeset
from autograder.website.lecture_tables import symbols
from course.shapes import AXES, SIZES, VALUES, Name

SYMBOLS, DIALECTS = "<!-- symbols -->", "<!-- dialects -->"  # where the hand-written page wants them
ROWS = re.compile(r"(?<=\|---\|---\|---\|\n)(?:\|.+\n)+")
# The letters of course.shapes in TeX; and where its meanings have one: T, D / H, t = 1 … T.
AS_TEX = {
    **{"ᵀ": r"^\top", "√d_k": r"\sqrt{d_k}", "log ": r"\log ", "_<t": "_{<t}", "α": r"\alpha"},
    **{"…": r"\ldots", "−": "-"},
}
LETTERS = re.compile(r"(?<!\w)(?:\w [=/…] )*[A-Z](?: [=/−…] \w)*(?!\w)")


def glossary(page: str, lectures: Path) -> str:
    """The hand-written page, its words sorted, with its tables. Raises ValueError if it lacks a place."""
    page = ROWS.sub(lambda table: "".join(sorted(table[0].splitlines(keepends=True), key=_word)), page)
    tables = {SYMBOLS: symbol_table(lectures), DIALECTS: dialects()}
    for place, table in tables.items():
        if place not in page:
            raise ValueError(f"the glossary has no place {place}")
        page = page.replace(place, table)
    return page


def _word(row: str) -> str:
    return row.split(" | ")[0].casefold()


def symbol_table(lectures: Path) -> str:
    """Every symbol of the lectures' tables, once; each of its meanings has its shape and its lecture."""
    meanings: dict[str, list[str]] = {}
    for path in sorted(lectures.glob("*.ipynb")):
        link = f"[{path.stem[:2]}](lectures/{path.name})"
        for each in symbols(path):
            shape = f"; {each.shape}" if each.shape else ""
            meanings.setdefault(each.written, []).append(f"{each.meaning}{shape}&nbsp;·&nbsp;{link}")
    rows = (f"| {symbol} | {'<br>'.join(meant)} |" for symbol, meant in meanings.items())
    return "\n".join(["| symbol | meaning and shape, by lecture |", "|---|---|", *rows])


def dialects() -> str:
    """Every name of the course's code with its letter, its meaning and what others call it."""
    return "\n".join([*_table("Axes", AXES), *_table("Sizes", SIZES), *_table("Values", VALUES)])


def _table(title: str, entries: Iterable[Name]) -> Iterator[str]:
    yield from ("", f"### {title}", "")
    yield "| in the course | letter | meaning | GPT-2 | Hugging Face | torch.nn |"
    yield "|---|---|---|---|---|---|"
    for name in entries:
        elsewhere = (f"`{word}`" if word else "" for word in (name.gpt2, name.hugging_face, name.torch))
        meaning = LETTERS.sub(lambda letters: in_tex(letters[0]), typeset(name.meaning))
        yield f"| `{name.code}` | {in_tex(name.letter)} | {meaning} | {' | '.join(elsewhere)} |"


def in_tex(letters: str) -> str:
    """A letter of the glossary, such as d_k or x_<t, as a formula."""
    for typed, tex in AS_TEX.items():
        letters = letters.replace(typed, tex)
    return f"${letters}$"
