"""Every topic of the sources has its places in the course, and every place exists."""

import re
from functools import cache
from pathlib import Path

import pytest

from autograder.source.notebook import read_source

ROOT = Path(__file__).parents[1]
TABLE = (ROOT / "docs/seeds.md").read_text(encoding="utf-8")
LECTURES = {path.stem[:2]: path for path in (ROOT / "lectures").glob("*.py")}
LEAST = 10  # letters of a piece of code, so that it cannot stand anywhere
WHOLE = r"(?<![A-Za-z0-9_]){}"  # no piece begins in the middle of a name
HOMEWORKS = {path.name.split("_")[0]: path for path in (ROOT / "solutions").glob("hw*_*")}


def rows():
    lines = [line for line in TABLE.splitlines() if line.startswith("| ") and not line.startswith("| topic")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@cache
def code_by_heading(number):
    """Heading → the code below it, up to the next heading, of a lecture."""
    found, heading = {}, ""
    for cell in read_source(LECTURES[number]):
        if cell.kind == "code":
            found[heading] = found.get(heading, "") + "\n" + cell.source
        else:
            text = re.sub(r"```.*?```", "", cell.source, flags=re.S)
            for title in re.findall(r"^#{1,3} (.*)$", text, flags=re.M):
                heading = title
                found.setdefault(heading, "")
    return found


@cache
def exercises(homework):
    sources = [path.read_text(encoding="utf-8") for path in HOMEWORKS[homework].glob("parts/*.py")]
    return set(re.findall(r'exercise="(\w+)"', "\n".join(sources)))


@cache
def lecture_exercises(number):
    text = "\n".join(cell.source for cell in read_source(LECTURES[number]) if cell.kind == "markdown")
    section = text.partition("## Exercises\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\*\*(\d+)\.\*\*", section, flags=re.M))


def check_computed(place):
    number, heading, code = place.split(" › ")
    piece = code.strip("`")
    assert len(piece) >= LEAST or piece.startswith(("def ", "class ")), (
        f"{place}: too short to say what is computed"
    )
    assert re.search(WHOLE.format(re.escape(piece)), code_by_heading(number)[heading]), place


def check_exercised(place):
    where, name = place.split(" › ")
    known = exercises(where) if where.startswith("hw") else lecture_exercises(where)
    assert name.removeprefix("exercise ") in known, place


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:60])
def test_the_places_of_a_topic_exist(row):
    _topic, explained, computed, exercised = row
    for place in explained.split("; "):
        number, heading = place.split(" › ")
        assert heading in code_by_heading(number), place
    for place in computed.split("; "):
        check_computed(place)
    for place in exercised.split("; "):
        check_exercised(place)


@pytest.mark.parametrize(
    "piece", ["`loss`", "`oss = -(y * y_hat.log()).sum()`", "`loss = -(y * y_hat.exp())`"]
)
def test_a_piece_that_is_short_or_cut_or_absent_is_refused(piece):
    with pytest.raises(AssertionError):
        check_computed(f"06 › The smallest network that predicts words › {piece}")


def test_all_topics_are_there():
    topics = [row[0] for row in rows()]
    assert len(topics) == len(set(topics)) > 150
