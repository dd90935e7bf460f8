"""Every letter in a shape stands in the glossary, and no later lecture is the first to explain it."""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from autograder.website.lecture_tables import symbols
from course.shapes import AXES, SIZES

ROOT = Path(__file__).parents[1]
N_GRAMS = ("counts", "kneser_ney")  # models whose C and N count different contexts and n-grams
HELD = sorted(
    [
        *ROOT.glob("solutions/*/*/*.py"),
        *ROOT.glob("lectures/*.py"),
        *(path for path in ROOT.glob("course/models/*.py") if path.stem not in N_GRAMS),
    ]
)
LAST = max(int(path.stem[:2]) for path in ROOT.glob("lectures/*.py"))
LETTER = r"(?:[A-Z](?:_[a-z])?|d(?:_[a-z])?)"
SIZE = rf"\d*[ ·]*{LETTER}(?:[ ·+−/-]+(?:{LETTER}|\d+))*"  # 2 L, D/2, T − 1, H·d_k
AXIS = rf"(?:…|\d+|{SIZE}|[a-z]{{2,}}(?: [a-z]+)*)"  # or words, which say what they count
BEFORE = r"(?<![\w}\])'\"`])"  # no function, whose arguments would follow
SHAPE = re.compile(rf"{BEFORE}\((?:{AXIS},|{AXIS}(?:, {AXIS})+)\)")


def letters(text: str) -> set[str]:
    """The letters in the shapes that a text mentions."""
    shapes = SHAPE.findall(re.sub(r"\s+(?:# )?", " ", text.replace("$", "")))
    return {letter for shape in shapes for letter in re.findall(rf"(?<!\w){LETTER}(?!\w)", shape)}


def texts(path: Path) -> Iterator[str]:
    """Strings and comments, which in a lecture or a homework hold its Markdown, but not the code."""
    source = re.sub("^[%!].*", "pass", path.read_text(), flags=re.M)  # lines for IPython alone
    kinds: list[list[str]] = [[], []]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            kinds[token.type == tokenize.STRING].append(token.string)
    yield "\n".join(kinds[0])  # as a shape may go on in the next line
    yield from kinds[1]


def last_lecture(path: Path) -> int:
    """The last lecture that readers of a file have seen; models are for all lectures."""
    folder = path.relative_to(ROOT).parts[0]
    if folder == "lectures":
        return int(path.stem[:2])
    if folder == "solutions":
        introduction = (path.parents[1] / "parts" / "0_introduction.py").read_text()
        named = re.findall(r"[Ll]ectures? (\d\d)(?: (?:to|and) (\d\d))?", introduction)
        return max((int(number) for pair in named for number in pair if number), default=0)
    return LAST


@cache
def known(last: int) -> set[str]:
    """The glossary's letters for sizes: the course's own, and shapeless symbols of lectures 00 to `last`."""
    seen = [path for path in ROOT.glob("lectures/*.ipynb") if int(path.stem[:2]) <= last]
    sizes = " ".join(each.written for path in seen for each in symbols(path) if not each.shape)
    found = re.findall(rf"(?<![\w{{\\]){LETTER}(?![\w}}])", sizes)
    return {*found, *(entry.letter for entry in (*AXES, *SIZES))}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`x` (B, T, D) and $(2 L, H·d_k)$", {"B", "T", "D", "L", "H", "d_k"}),
        ("attention(Q, K, V) of (words, d)", {"d"}),
        ("the pair (1, 2), the set (A or B)", set()),
        ("# a vector (K,) of (B,\n# T − 1)", {"K", "B", "T"}),
    ],
)
def test_letters_are_found_in_shapes_and_nowhere_else(text, found):
    assert letters(text) == found


def test_the_letter_of_a_matrix_is_not_taken_for_a_size():
    assert {"B", "T", "S", "D", "d_k"} < known(LAST)
    assert not known(LAST) & {"K", "M", "Q"}


def test_a_letter_is_known_from_the_lecture_that_explains_it():
    assert "d_x" not in known(6)
    assert "d_x" in known(7)


def test_homeworks_name_the_lectures_that_they_follow():
    homeworks = sorted(ROOT.glob("solutions/hw*/parts/0_introduction.py"))
    assert [last_lecture(path) for path in homeworks] == [0, 4, 6, 9, 11, 14, 16, 18]


@pytest.mark.parametrize("path", HELD, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_letter_of_a_shape_stands_in_the_glossary(path):
    allowed = known(last_lecture(path))
    assert {letter: text[:80] for text in texts(path) for letter in letters(text) - allowed} == {}
