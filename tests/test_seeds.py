"""Every topic of the sources has its places in the course, and every place exists."""

import re
from functools import cache
from pathlib import Path

import pytest

from autograder.source.notebook import read_source

ROOT = Path(__file__).parents[1]
TABLE = (ROOT / "docs/seeds.md").read_text(encoding="utf-8")
LECTURES = {path.stem[:2]: path for path in (ROOT / "lectures").glob("*.py")}
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
    assert code.strip("`") in code_by_heading(number)[heading], place


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


def test_all_topics_are_there():
    topics = [row[0] for row in rows()]
    assert len(topics) == len(set(topics)) > 150
