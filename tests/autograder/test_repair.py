"""A submission, however it was mangled, is rebuilt on the release; what was done is said."""

import json
from pathlib import Path

import pytest

from autograder.address import Address
from autograder.build import build_homework
from autograder.collect import Unreadable
from autograder.handed_in import parse
from autograder.homework import load
from autograder.released import source_cells
from autograder.repair import repair
from autograder.sample_submissions import answered, released

MINI = Path(__file__).parent / "mini_homework"
ANSWER = "def moving_average(values, width):\n    return [1.0] * 5"
WRITTEN = "Why does a wider window give a smoother curve, and what does it cost?\n\nIt averages noise away."


@pytest.fixture(scope="module")
def built():
    return build_homework(load(MINI), Address("https://example.org/course", "v1"))


@pytest.fixture
def handed_in(built):
    return answered(released(built), {"moving_average": ANSWER, "why_smooth": WRITTEN})


def rebuilt(notebook, built):
    cells, _ = parse(json.dumps(notebook).encode())
    return repair(cells, source_cells(built))


def named(notebook, name):
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def order(repaired):
    return [cell.of.name for cell in repaired.cells if cell.of]


def test_an_honest_submission_is_rebuilt_without_a_flag(handed_in, built):
    repaired = rebuilt(handed_in, built)
    assert repaired.flags == ()
    assert repaired.cell("moving_average").source == ANSWER
    assert repaired.cell("why_smooth").source == WRITTEN
    assert order(repaired) == [cell.name for cell in source_cells(built)]


def test_hidden_checks_come_back_and_no_solution_does(handed_in, built):
    repaired = rebuilt(handed_in, built)
    assert "pelican_values" in repaired.cell("averages_are_right_for_any_width").source
    assert not any("heron_starts" in cell.source or "cormorant" in cell.source for cell in repaired.cells)


def test_points_and_kinds_of_the_student_do_not_count(handed_in, built):
    named(handed_in, "averages_are_right")["metadata"]["nbgrader"]["points"] = 99
    named(handed_in, "averages_are_right_for_any_width")["metadata"]["nbgrader"]["solution"] = True
    repaired = rebuilt(handed_in, built)
    assert repaired.cell("averages_are_right").of.nbgrader["points"] == 1
    assert repaired.cell("averages_are_right_for_any_width").role == "check"
    assert "points were changed" in repaired.flags[0]
    assert "averages_are_right_for_any_width" in repaired.flags[1]


def test_a_changed_check_is_put_back(handed_in, built):
    named(handed_in, "averages_are_right")["source"] = "pass"
    repaired = rebuilt(handed_in, built)
    assert "assert_close" in repaired.cell("averages_are_right").source
    assert repaired.flags == ("Changed by the student and put back: 1 cell (averages_are_right).",)


def test_missing_cells_are_restored_behind_the_cell_they_follow(handed_in, built):
    gone = ("averages_are_right", "imports")
    handed_in["cells"] = [
        c for c in handed_in["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") not in gone
    ]
    repaired = rebuilt(handed_in, built)
    assert order(repaired) == [cell.name for cell in source_cells(built)]
    assert repaired.flags == (
        "Restored 1 check cell (averages_are_right), missing from the submission.",
        "Restored 1 cell of the homework (imports), missing from the submission.",
    )


def test_a_missing_answer_is_restored_as_something_that_must_not_run(handed_in, built):
    handed_in["cells"].remove(named(handed_in, "moving_average"))
    repaired = rebuilt(handed_in, built)
    assert repaired.cell("moving_average").restored
    assert repaired.flags == ("Missing from the submission: 1 answer cell (moving_average).",)


def test_of_two_copies_of_an_answer_the_last_is_graded_and_both_are_kept(handed_in, built):
    place = handed_in["cells"].index(named(handed_in, "moving_average"))
    copy = json.loads(json.dumps(handed_in["cells"][place]))
    copy["source"] = "def moving_average(values, width):\n    return []"
    handed_in["cells"].insert(place, copy)
    repaired = rebuilt(handed_in, built)
    assert repaired.cell("moving_average").source == ANSWER
    assert copy["source"] in [cell.source for cell in repaired.cells if cell.of is None]
    assert "More than one cell says it is 1 cell (moving_average)" in repaired.flags[0]


def test_a_copied_check_disappears(handed_in, built):
    check = named(handed_in, "averages_are_right")
    handed_in["cells"].append(json.loads(json.dumps(check)))
    assert order(rebuilt(handed_in, built)).count("averages_are_right") == 1
    assert len(rebuilt(handed_in, built).cells) == len(built["cells"])


@pytest.mark.parametrize("keep_cell_ids", [True, False])
def test_a_notebook_that_lost_its_metadata_is_recognised_by_its_text(handed_in, built, keep_cell_ids):
    for cell in handed_in["cells"]:
        cell["metadata"] = {"id": "Xy3_random"}
        if not keep_cell_ids:
            del cell["id"]
    repaired = rebuilt(handed_in, built)
    assert order(repaired) == [cell.name for cell in source_cells(built)]
    assert repaired.cell("moving_average").source == ANSWER
    assert repaired.cell("why_smooth").source == WRITTEN
    assert len(repaired.flags) == 1
    assert repaired.flags[0].startswith("The notebook has lost metadata (as after Colab)")


def test_the_students_own_cells_stay_where_they_were(handed_in, built):
    place = handed_in["cells"].index(named(handed_in, "moving_average"))
    own = {"cell_type": "code", "metadata": {}, "source": ["import math\n", "two = 2"], "outputs": []}
    handed_in["cells"].insert(place, own)
    repaired = rebuilt(handed_in, built)
    sources = [cell.source for cell in repaired.cells]
    assert sources.index("import math\ntwo = 2") == sources.index(ANSWER) - 1


def test_tags_are_dropped_and_reported(handed_in, built):
    named(handed_in, "averages_are_right")["metadata"]["tags"] = ["skip-execution"]
    assert rebuilt(handed_in, built).flags == ("Cell tags dropped: skip-execution.",)


@pytest.mark.parametrize(
    "cell",
    [
        None,
        3,
        [],
        {},
        {"cell_type": 7, "source": 3, "metadata": [], "attachments": "x"},
        {"metadata": {"nbgrader": 1}},
        {"metadata": {"nbgrader": {"grade_id": ["averages_are_right"]}, "tags": 5}, "source": [1, None, "x"]},
    ],
)
def test_a_cell_of_odd_types_is_read_as_a_harmless_one(handed_in, built, cell):
    handed_in["cells"].append(cell)
    assert order(rebuilt(handed_in, built)) == [cell.name for cell in source_cells(built)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (b"\x89PNG\r\n", "not UTF-8 text .byte 0x89 at position 0"),
        (b"print('hello')", "does not hold JSON"),
        (b'{"nbformat": 4, "cells": [', "breaks off in line 1"),
        (b'{"nbformat": 4,, "cells": []}', "damaged: .* in line 1"),
        (b"[1, 2]", "no notebook format number"),
        (b'{"cells": []}', "no notebook format number"),
        (b'{"nbformat": 99, "cells": []}', "format 99; format 4 is read"),
        (b'{"nbformat": 4, "cells": {}}', "no list of cells"),
        (b"[" * 100_000, "nested too deeply|cut short"),
        (b'{"nbformat": 4, "cells": ' + b"[" * 80 + b"]" * 80 + b"}", "nested too deeply"),
    ],
)
def test_what_is_no_notebook_gets_a_sentence(data, sentence):
    with pytest.raises(Unreadable, match=sentence):
        parse(data)


def test_format_3_is_converted_and_reported():
    cell = {"cell_type": "code", "input": ["x = 1"], "language": "python", "metadata": {}, "outputs": []}
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": [cell], "metadata": {}}],
    }
    cells, flags = parse(json.dumps(old).encode())
    assert [cell.source for cell in cells] == ["x = 1"]
    assert flags == ["The notebook was in the old format 3 and was converted."]
