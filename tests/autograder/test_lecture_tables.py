"""The glossary and the flash cards hold what the lectures say in their tables of symbols and their recaps."""

import re
from pathlib import Path

import pytest

from autograder.website.glossary import glossary, symbol_table
from autograder.website.lecture_tables import recap, symbols
from autograder.website.path import lectures_in
from autograder.website.recaps import HEADER, flash_cards, in_html
from course.shapes import AXES, SIZES, VALUES

ROOT = Path(__file__).parents[2]
LECTURES = ROOT / "lectures"
HAND_WRITTEN = (ROOT / "site" / "glossary.md").read_text()


def symbols_in_source(path):
    """The first column of each table of symbols, read from the lecture's source by other means."""
    text = re.sub(r"^# ?", "", path.read_text(), flags=re.M)
    for table in re.findall(r"^\| symbol \| meaning .*\n\|[-| :]+\n((?:\|.*\n)+)", text, re.M):
        yield from (line.split(" | ")[0].removeprefix("| ") for line in table.splitlines())


def test_every_symbol_of_a_lectures_tables_is_in_the_glossary_once_and_with_each_of_its_lectures():
    rows = symbol_table(LECTURES).splitlines()[2:]
    found = set()
    for path in sorted(LECTURES.glob("[0-9]*.py")):
        for symbol in symbols_in_source(path):
            found.add(symbol)
            (row,) = [row for row in rows if row.startswith(f"| {symbol} |")]
            assert f"·&nbsp;[{path.stem[:2]}](" in row, symbol
    assert len(found) == len(rows) > 80


def test_the_glossary_explains_every_name_of_the_code_once():
    lines = glossary(HAND_WRITTEN, LECTURES).splitlines()
    for name in (*AXES, *SIZES, *VALUES):
        assert len([line for line in lines if line.startswith(f"| `{name.code}` |")]) == 1


def test_the_words_of_the_glossary_are_sorted_and_no_letter_is_typed():
    page = glossary(HAND_WRITTEN, LECTURES)
    words = re.findall(r"^\| ([^|`$]+) \| .+ \| \[\d\d\]\(lectures", page, re.M)
    assert len(words) > 70
    assert words == sorted(words, key=str.casefold)
    letters = re.findall(r"^\| `\w+` \| ([^|]+) \|", page, re.M)
    assert len(letters) == len((*AXES, *SIZES, *VALUES))
    assert all(re.fullmatch(r"\$[^$ᵀ√]+\$", letter) for letter in letters)


def test_every_word_of_the_glossary_is_met_in_the_lecture_that_it_names():
    rows = re.findall(r"^\| ([^|]+) \| .+ \| \[\d\d\]\((lectures/\w+)\.ipynb\) \|$", HAND_WRITTEN, re.M)
    assert len(rows) > 70
    assert len({words for words, _ in rows}) == len(rows)
    assert {lecture for _, lecture in rows} == {f"lectures/{each.name}" for each in lectures_in(LECTURES)}
    for words, lecture in rows:
        said = (ROOT / f"{lecture}.py").read_text().lower()
        for word in re.sub(r" \(.*?\)", "", words).split(", "):
            assert word.lower() in said, f"{word}: {lecture}"


def test_a_glossary_without_a_place_for_its_tables_is_refused():
    with pytest.raises(ValueError, match="no place"):
        glossary("# Glossary\n", LECTURES)


def test_every_recap_and_every_symbol_is_a_flash_card():
    deck = flash_cards(LECTURES)
    cards = [line.split("\t") for line in deck.removeprefix(HEADER).splitlines()]
    assert {len(card) for card in cards} == {3}
    for lecture in lectures_in(LECTURES):
        path = LECTURES / f"{lecture.name}.ipynb"
        mine = [card for card in cards if card[2] == lecture.name]
        assert mine[0][1].count("<li>") == len(recap(path)) > 0
        assert len(mine) == 1 + len(list(symbols(path)))


def test_a_card_sets_formulas_code_and_emphasis_and_nothing_else():
    line = "the **floor** of $P(x<y)$ in `a<b`, see [*this*](there.ipynb)"
    assert in_html(line) == (
        r"the <strong>floor</strong> of \(P(x&lt;y)\) in <code>a&lt;b</code>, see <em>this</em>"
    )
