"""A submission, however it was mangled, is rebuilt on the release; what was done is said."""

import json
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbgrader.preprocessors import ComputeChecksums

from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.earlier_releases import FILE, UnreadableHistory, keep, retired, with_earlier
from autograder.source.loading import load
from autograder.source.released import source_cells
from autograder.source.sample_submissions import answered, released
from autograder.submissions.collect import Unreadable
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import repair

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
    cells = parse(json.dumps(notebook).encode()).cells
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
    assert "pelican_values" in repaired.cell("moving_average-hidden").source
    assert not any("heron_starts" in cell.source or "cormorant" in cell.source for cell in repaired.cells)


def test_points_and_kinds_of_the_student_do_not_count(handed_in, built):
    named(handed_in, "moving_average-check")["metadata"]["nbgrader"]["points"] = 99
    named(handed_in, "moving_average-hidden")["metadata"]["nbgrader"]["solution"] = True
    repaired = rebuilt(handed_in, built)
    assert repaired.cell("moving_average-check").of.nbgrader["points"] == 2
    assert repaired.cell("moving_average-hidden").role == "check"
    assert "Points had been changed" in repaired.flags[0]
    assert "moving_average-hidden" in repaired.flags[1]


def test_a_changed_check_is_put_back(handed_in, built):
    named(handed_in, "moving_average-check")["source"] = "pass"
    repaired = rebuilt(handed_in, built)
    assert "assert_close" in repaired.cell("moving_average-check").source
    assert repaired.flags == ("Changed by the student and restored: 1 cell (moving_average-check).",)


def test_missing_cells_are_restored_behind_the_cell_they_follow(handed_in, built):
    gone = ("moving_average-check", "imports")
    handed_in["cells"] = [
        c for c in handed_in["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") not in gone
    ]
    repaired = rebuilt(handed_in, built)
    assert order(repaired) == [cell.name for cell in source_cells(built)]
    assert repaired.flags == (
        "Restored 1 check cell (moving_average-check), missing from the submission.",
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
    assert "More than one copy of 1 cell (moving_average)" in repaired.flags[0]


def test_a_copied_check_disappears(handed_in, built):
    check = named(handed_in, "moving_average-check")
    handed_in["cells"].append(json.loads(json.dumps(check)))
    assert order(rebuilt(handed_in, built)).count("moving_average-check") == 1
    assert len(rebuilt(handed_in, built).cells) == len(built["cells"])


@pytest.fixture
def corrected(built):
    """The homework after a correction: another text of one cell, other points of another, one cell more."""
    after = json.loads(json.dumps(built))
    named(after, "moving_average-check")["source"] += "\n# corrected"
    named(after, "moving_average-hidden")["metadata"]["nbgrader"]["points"] = 3
    named(after, "why_smooth")["metadata"]["nbgrader"]["points"] = 4
    more = json.loads(json.dumps(named(after, "moving_average-check")))
    more["metadata"]["nbgrader"]["grade_id"] = more["id"] = "one_more"
    after["cells"].insert(after["cells"].index(named(after, "moving_average-check")) + 1, more)
    return after


@pytest.fixture
def rebuilt_on_correction(built, corrected, tmp_path):
    """Rebuild on the corrected homework, whose folder keeps what was released before."""
    keep(tmp_path, released(built), released(corrected))

    def rebuild(notebook):
        cells = parse(json.dumps(notebook).encode()).cells
        return repair(cells, with_earlier(source_cells(corrected), tmp_path))

    return rebuild


OLD = (
    "Made from an earlier release; brought up to date: "
    "4 cells (moving_average-check, moving_average-hidden, why_smooth, one_more)."
)


def test_an_honest_submission_of_an_earlier_release_has_a_note_and_no_flag(handed_in, rebuilt_on_correction):
    repaired = rebuilt_on_correction(handed_in)
    assert (repaired.flags, repaired.notes) == ((), (OLD,))
    assert repaired.cell("moving_average-check").source.endswith("# corrected")
    assert repaired.cell("moving_average-hidden").of.nbgrader["points"] == 3


MOVED = Address("https://example.edu/another/place", "v2")


@pytest.fixture
def rebuilt_after_the_move(built, tmp_path):
    """Rebuild on the homework whose course has moved: moved(notebook, correct, is_on_record)."""

    def rebuild(notebook, *, correct=lambda cells: None, is_on_record=True):
        moved = build_homework(load(MINI), MOVED)
        correct(moved)
        if is_on_record:
            keep(tmp_path, released(built), released(moved))
        cells = parse(json.dumps(notebook).encode()).cells
        return repair(cells, with_earlier(source_cells(moved), tmp_path))

    return rebuild


@pytest.mark.parametrize("is_on_record", [True, False])
@pytest.mark.parametrize("has_metadata", [True, False])
def test_an_address_that_moved_makes_no_notebook_old(
    handed_in, rebuilt_after_the_move, is_on_record, has_metadata
):
    if has_metadata:
        handed_in = ComputeChecksums().preprocess(nbformat.from_dict(handed_in), {})[0]
    else:
        for cell in handed_in["cells"]:
            cell["metadata"] = {}
            del cell["id"]
    assert "example.org/course@v1" in json.dumps(handed_in)
    repaired = rebuilt_after_the_move(handed_in, is_on_record=is_on_record)
    assert repaired.notes == ()
    assert bool(repaired.flags) is not has_metadata  # that it lost its metadata
    assert not any("hanged" in flag or "Restored" in flag for flag in repaired.flags)
    assert "example.edu/another/place@v2" in repaired.cell("setup").source
    assert "example.org/course@v1" not in "".join(cell.source for cell in repaired.cells)


def test_what_is_old_for_another_reason_is_still_told_after_a_move(handed_in, rebuilt_after_the_move):
    def correct(moved):
        named(moved, "moving_average-check")["source"] += "\n# corrected"

    said = "Made from an earlier release; brought up to date: 1 cell (moving_average-check)."
    repaired = rebuilt_after_the_move(handed_in, correct=correct)
    assert (repaired.flags, repaired.notes) == ((), (said,))


def test_a_set_up_cell_whose_code_was_corrected_is_old(handed_in, rebuilt_after_the_move):
    def correct(moved):
        named(moved, "setup")["source"] += "\nprint('ready')"

    said = "Made from an earlier release; brought up to date: 1 cell (setup)."
    assert rebuilt_after_the_move(handed_in, correct=correct).notes == (said,)


def test_a_set_up_cell_that_the_student_changed_beside_the_address_is_flagged(
    handed_in, rebuilt_after_the_move
):
    named(handed_in, "setup")["source"] += "\nprint('mine')"
    repaired = rebuilt_after_the_move(handed_in)
    assert repaired.flags == ("Changed by the student and restored: 1 cell (setup).",)
    assert repaired.notes == ()


def test_a_submission_of_the_latest_release_has_neither(corrected, rebuilt_on_correction):
    repaired = rebuilt_on_correction(answered(released(corrected), {"moving_average": ANSWER}))
    assert (repaired.flags, repaired.notes) == ((), ())


def test_a_changed_cell_of_an_earlier_release_is_flagged_beside_the_note(handed_in, rebuilt_on_correction):
    named(handed_in, "imports")["source"] = "pass"
    named(handed_in, "moving_average-hidden")["metadata"]["nbgrader"]["points"] = 99
    repaired = rebuilt_on_correction(handed_in)
    assert repaired.flags == (
        "Changed by the student and restored: 1 cell (imports).",
        "Points had been changed and were restored in 1 cell (moving_average-hidden).",
    )
    assert repaired.notes == (OLD.replace("4 cells", "3 cells").replace("moving_average-hidden, ", ""),)


def test_the_earlier_text_of_another_cell_is_a_change(handed_in, rebuilt_on_correction):
    other = named(handed_in, "moving_average-check")["source"]
    named(handed_in, "moving_average-hidden")["source"] = other
    named(handed_in, "imports")["source"] = other
    flags = rebuilt_on_correction(handed_in).flags
    assert flags[0] == ("Changed by the student and restored: 2 cells (imports, moving_average-hidden).")


@pytest.mark.parametrize("keep_cell_ids", [True, False])
def test_an_earlier_release_is_known_without_metadata_too(handed_in, rebuilt_on_correction, keep_cell_ids):
    for cell in handed_in["cells"]:
        cell["metadata"] = {}
        if not keep_cell_ids:
            del cell["id"]
    repaired = rebuilt_on_correction(handed_in)
    assert [flag.partition(" (")[0] for flag in repaired.flags] == ["The notebook has lost metadata"]
    assert repaired.notes == (
        "Made from an earlier release; brought up to date: 2 cells (moving_average-check, one_more).",
    )


def test_a_cell_that_came_with_a_later_release_is_missing_and_nobody_is_said_to_have_an_old_one(
    corrected, rebuilt_on_correction
):
    """It may have been deleted: nothing else of the submission is of an earlier release."""
    submission = answered(released(corrected), {"moving_average": ANSWER})
    submission["cells"].remove(named(submission, "one_more"))
    repaired = rebuilt_on_correction(submission)
    said = "Missing, as from earlier releases of the homework, and restored: 1 cell (one_more)."
    assert (repaired.flags, repaired.notes) == ((), (said,))


def test_a_question_left_as_an_earlier_release_had_it_is_not_answered(built, corrected, tmp_path):
    why = named(corrected, "why_smooth")
    why["source"] = why["source"].replace("Why does", "Why, in your words, does")
    keep(tmp_path, released(built), released(corrected))
    cells = parse(json.dumps(released(built)).encode()).cells
    repaired = repair(cells, with_earlier(source_cells(corrected), tmp_path))
    assert repaired.cell("why_smooth").is_untouched


def test_what_nbgrader_released_before_there_was_a_record_is_not_called_a_change(built, corrected):
    before = as_nbgrader_releases(built)
    notebook = answered(before, {"moving_average": ANSWER})
    named(notebook, "imports")["source"] = "pass"
    cells = parse(json.dumps(notebook).encode()).cells
    repaired = repair(cells, source_cells(corrected))
    assert repaired.flags[-1] == ("Changed by the student and restored: 1 cell (imports).")
    [note] = repaired.notes
    assert note.startswith("Made from a release that is not on record, judging by nbgrader's checksums; ")
    assert "3 cells (moving_average-check, moving_average-hidden, why_smooth)" in note


def as_nbgrader_releases(built):
    """What students get, with the checksums that nbgrader itself computes."""
    notebook = nbformat.from_dict(released(built))
    return ComputeChecksums().preprocess(notebook, {})[0]


def test_the_history_of_a_homework_grows_with_each_release_and_repeats_nothing(built, corrected, tmp_path):
    again = json.loads(json.dumps(corrected))
    named(again, "moving_average-check")["source"] += " twice"
    versions = [released(notebook) for notebook in (built, corrected, again)]
    for before, after in (*pairwise(versions), *pairwise(versions), (versions[2], versions[2])):
        keep(tmp_path, before, after)
    kept = {cell.name: cell.earlier for cell in with_earlier(source_cells(again), tmp_path) if cell.earlier}
    assert {name: len(earlier) for name, earlier in kept.items()} == {
        "moving_average-check": 2,
        "moving_average-hidden": 1,
        "why_smooth": 1,
        "one_more": 1,
    }


def test_a_cell_that_earlier_releases_had_and_this_one_has_not_is_left_out(built, handed_in, tmp_path):
    before = json.loads(json.dumps(handed_in))
    for name in ("first_claim", "second_claim"):
        old = json.loads(json.dumps(named(before, "moving_average-check")))
        old["metadata"]["nbgrader"]["grade_id"] = old["id"] = name
        old["source"] = f"check({name}, moving_average)"
        before["cells"].append(old)
    keep(tmp_path, before, handed_in)
    source = with_earlier(source_cells(built), tmp_path)
    gone = retired(source, tmp_path)
    assert gone.keys() == {"first_claim", "second_claim"}
    for metadata in (True, False):
        for cell in () if metadata else before["cells"]:
            cell["metadata"] = {}
            del cell["id"]
        cells = parse(json.dumps(before).encode()).cells
        repaired = repair(cells, source, gone)
        assert order(repaired) == [cell.name for cell in source]
        assert not any("_claim" in cell.source for cell in repaired.cells)
        assert repaired.notes[0].startswith("From an earlier release, and no longer part of this one: 2")
    assert repaired.cell("moving_average").source == ANSWER


def test_a_history_that_cannot_be_read_is_named(built, tmp_path):
    (tmp_path / FILE).write_text('{"moving_average-check": [{}]}')
    with pytest.raises(UnreadableHistory, match=r"earlier_releases.json cannot be read"):
        with_earlier(source_cells(built), tmp_path)


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
    named(handed_in, "moving_average-check")["metadata"]["tags"] = ["skip-execution"]
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
        {
            "metadata": {"nbgrader": {"grade_id": ["moving_average-check"]}, "tags": 5},
            "source": [1, None, "x"],
        },
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
        (b'{"nbformat": 4, "cells": [', "ends abruptly in line 1"),
        (b'{"nbformat": 4,, "cells": []}', "damaged: .* in line 1"),
        (b"[1, 2]", "no notebook format number"),
        (b'{"cells": []}', "no notebook format number"),
        (b'{"nbformat": 99, "cells": []}', "format 99; only format 4 can be read"),
        (b'{"nbformat": 4, "cells": {}}', "no list of cells"),
        (b"[" * 100_000, "nested too deeply|ends abruptly"),
        (b'{"nbformat": 4, "cells": ' + b"[" * 80 + b"]" * 80 + b"}", "nested too deeply"),
    ],
)
def test_what_is_no_notebook_gets_a_sentence(data, sentence):
    with pytest.raises(Unreadable, match=sentence):
        parse(data)


def in_format_3(*cells, **more):
    sheets = [{"cells": list(cells), "metadata": {}}]
    return json.dumps(
        {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": sheets} | more
    )


def test_format_3_is_read_as_nbformat_converts_it():
    cells = [
        {
            "cell_type": "code",
            "input": ["x = 1"],
            "language": "python",
            "metadata": {"tags": ["a"]},
            "outputs": [],
        },
        {"cell_type": "heading", "level": 3, "source": ["One\n", "line"], "metadata": {}},
        {"cell_type": "heading", "source": "Another", "metadata": {}},
        {"cell_type": "html", "source": "<b>", "metadata": {}},
        {"cell_type": "markdown", "source": "text", "metadata": {"nbgrader": {"grade_id": "why_smooth"}}},
        {"cell_type": "raw", "source": "raw", "metadata": {}},
    ]
    text = in_format_3(*cells)
    theirs = parse(nbformat.writes(nbformat.convert(nbformat.reads(text, 3), 4)).encode())
    ours = [replace(cell, cell_id=None) for cell in parse(text.encode()).cells]
    assert ours == [replace(cell, cell_id=None) for cell in theirs.cells]


def test_format_3_takes_no_more_memory_than_any_other():
    outputs = [{"output_type": "stream", "text": "a"}] * 20_000
    data = in_format_3({"cell_type": "code", "input": "", "outputs": outputs, "metadata": {}}).encode()
    tracemalloc.start()
    parse(data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 40 * len(data)


@pytest.mark.parametrize("sheets", [None, 7, [7], [{}], [{"cells": 7}], {"cells": []}])
def test_format_3_without_cells_is_an_empty_notebook(sheets):
    assert parse(in_format_3(worksheets=sheets).encode()).cells == []


def test_format_3_is_converted_and_reported():
    cell = {"cell_type": "code", "input": ["x = 1"], "language": "python", "metadata": {}, "outputs": []}
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": [cell], "metadata": {}}],
    }
    handed = parse(json.dumps(old).encode())
    assert [cell.source for cell in handed.cells] == ["x = 1"]
    assert handed.flags == ["The notebook was in the old format 3 and was converted."]
