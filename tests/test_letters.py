"""Every letter in a shape stands in the glossary, in the homeworks, lectures and models about attention."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.website.lecture_tables import symbols
from course.shapes import AXES, SIZES

ROOT = Path(__file__).parents[1]
N_GRAMS = ("counts", "kneser_ney")  # models from before attention, which count contexts and n-grams
ABOUT_ATTENTION = sorted(
    [
        *ROOT.glob("solutions/hw[4-7]_*/*/*.py"),
        *ROOT.glob("lectures/1*.py"),
        *(path for path in ROOT.glob("course/models/*.py") if path.stem not in N_GRAMS),
    ]
)
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


@pytest.fixture(scope="module")
def known() -> set[str]:
    """The glossary's letters for sizes: the course's own, and symbols of lectures that have no shape."""
    rows = [each for path in ROOT.glob("lectures/*.ipynb") for each in symbols(path)]
    sizes = " ".join(each.written for each in rows if not each.shape)
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


def test_the_letter_of_a_matrix_is_not_taken_for_a_size(known):
    assert {"B", "T", "S", "D", "d_k"} < known
    assert not known & {"K", "M", "Q"}


@pytest.mark.parametrize("path", ABOUT_ATTENTION, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_letter_of_a_shape_stands_in_the_glossary(path, known):
    assert {letter: text[:80] for text in texts(path) for letter in letters(text) - known} == {}
