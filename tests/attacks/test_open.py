"""What is known to remain: these pass while an attack succeeds, so that the page on attacks is true."""

import tempfile
from pathlib import Path

import pytest
from test_reach import PREAMBLE
from test_results import CARELESS, changed

from autograder.grading.standin import Cell, Sitting
from autograder.isolation import Limits


@pytest.fixture
def sitting(warm):
    limits = Limits(call_seconds=10.0)
    sitting = Sitting(lambda: warm.student(limits=limits), limits)
    yield sitting
    sitting.close()


def test_whether_a_path_exists_and_where_a_link_leads_can_be_asked(warm, student):
    with tempfile.TemporaryDirectory(prefix="desk-") as desk:
        Path(desk).chmod(0o755)
        Path(desk, "gradebook.db").write_text("marks")
        Path(desk, "latest").symlink_to("gradebook.db")
        source = (
            f"{PREAMBLE}\nsize = quietly(os.stat, {desk + '/gradebook.db'!r})\n"
            f"print(size and size.st_size, quietly(os.readlink, {desk + '/latest'!r}),\n"
            f"      quietly(open, {desk + '/gradebook.db'!r}), quietly(os.listdir, {desk!r}))"
        )
        told = student.run(source).output
    at_landlock = warm.level.name == "landlock"
    assert told == ("5 gradebook.db None None\n" if at_landlock else "None None None None\n")


HIDING = """
import sys
def answer(values):
    frame = sys._getframe()
    while frame.f_globals["__name__"] != "autograder.isolation.session": frame = frame.f_back
    wire, asked = frame.f_globals["wire"], frame.f_locals["arguments"]
    honest = wire.framed
    wire.framed = lambda content: asked if sys._getframe(1).f_code.co_name == "request" else honest(content)
    values.sort()
    return values[0]
"""


def test_a_change_of_an_argument_can_be_hidden_by_climbing_to_the_caller(sitting):
    sitting.run(Cell(CARELESS, "a cell"))
    assert changed(sitting, [3, 1, 2]) == (([1, 2, 3],), {})
    sitting.run(Cell(HIDING, "another cell"))
    assert changed(sitting, [3, 1, 2]) is None
