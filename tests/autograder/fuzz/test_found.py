"""What odd inputs have brought to light, each in its smallest form."""

import io
import json
import zipfile

import numpy as np
import pytest
import torch
from puppet import CELL, student

from autograder.collecting.filing import contents
from autograder.collecting.gather import Row, not_told
from autograder.collecting.tree import MOST_PARTS, TOO_DEEP, File, Spoilt, Tree, nested, opened
from autograder.isolation import Died, wire
from course.checks import Mismatch, assert_close
from course.checks.brief import kind_name
from course.checks.check import values
from course.checks.trace import Object

UNREADABLE = "sent a reply that cannot be read"
FAULT = {"class_name": "E", "message": "", "bases": [], "frames": [], "line": None, "text": ""}
TENSOR = torch.zeros(2)


def asked(ask, reply):
    """What comes of a request to a process that gives this reply, after it was started."""
    replies = iter([{"value": None}, reply])
    with student(lambda frame: wire.encode(next(replies))) as theirs:
        return ask(theirs), theirs


@pytest.mark.parametrize("odd", [TENSOR, np.zeros(2), np.zeros(())], ids=["tensor", "array", "number"])
@pytest.mark.parametrize(
    ("ask", "reply"),
    [
        (lambda s: s.run(""), lambda odd: odd),
        (lambda s: s.run(""), lambda odd: {"value": odd}),
        (lambda s: s.run(""), lambda odd: {"value": {**CELL, "displays": [odd]}}),
        (lambda s: s.run(""), lambda odd: {"value": {**CELL, "error": odd}}),
        (lambda s: s.run(""), lambda odd: {"fault": odd}),
        (lambda s: s.run(""), lambda odd: {"fault": {**FAULT, "frames": [odd]}}),
        (lambda s: s.ask("f"), lambda odd: {"value": odd}),
        (lambda s: s.defined(["f"]), lambda odd: {"value": [odd]}),
    ],
    ids=["reply", "cell", "display", "error", "fault", "frame", "answer", "name"],
)
def test_a_tensor_in_the_place_of_something_else_ends_the_process(ask, reply, odd):
    with pytest.raises(Died, match=UNREADABLE):
        asked(ask, reply(odd))


def test_a_picture_that_is_no_ascii_is_left_out_and_ends_nothing():
    displays = [{"text/plain": "a", "image/png": "é"}]
    shown, _ = asked(lambda s: s.run(""), {"value": {**CELL, "displays": displays}})
    assert shown.displays == [{"text/plain": "a"}]


def test_arguments_that_come_back_weigh_what_they_take():
    left = wire.encode((([[] for _ in range(10_000)],), {}))
    _, theirs = asked(
        lambda s: s.ask("f", "", ([],)), {"value": {"value": None, "left": left, "graph": None}}
    )
    assert theirs.told > 10_000 * wire.BYTES_OF_AN_ENTRY


def test_two_truth_values_without_axes_are_shown():
    assert values(Mismatch(torch.tensor(False), np.array(True))) == ("False", "True")


def test_a_slice_of_long_numbers_is_named_in_few_words():
    assert len(kind_name(slice(10**4000))) <= 300


@pytest.mark.parametrize("expected", [torch.zeros(0, 2, dtype=torch.complex64), 1j * torch.ones(2, 2)])
def test_complex_numbers_of_which_an_axis_is_missing_are_a_mismatch(expected):
    with pytest.raises(Mismatch, match="shape"):
        assert_close(torch.zeros(expected.shape[:1]), expected)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
def test_unsigned_numbers_are_compared_with_any_others(dtype):
    unsigned = np.array([3, 4], dtype)
    for others in (np.array, torch.tensor):
        assert_close(unsigned, others([3, 4]))
        with pytest.raises(Mismatch) as mismatch:
            assert_close(unsigned.repeat(100), others([3, 5]).repeat(100))
        assert all(values(mismatch.value))
    with pytest.raises(Mismatch):
        assert_close(np.array([-1]).astype(dtype), torch.tensor([-1]))


def test_an_object_whose_class_has_a_long_name_is_named_in_few_words():
    assert len(kind_name(Object(0, "x" * 3_000))) <= 300


@pytest.mark.parametrize("setting", ["grade", "solution", "locked"])
def test_half_a_character_in_a_cells_settings_is_put_back(marked, setting):
    notebook = json.loads(marked.data)
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"][setting] = "\ud800"
    record = marked.graded(json.dumps(notebook).encode()).record
    assert record.points == 4
    assert any("permissions had been changed" in flag for flag in record.flags)


def zip_of(*names):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return whole.getvalue()


def test_a_path_of_hundreds_of_folders_is_left_out_with_all_of_them(tmp_path):
    deep, allowed = "a/" * MOST_PARTS + "x", "b/" * (MOST_PARTS - 1) + "x"
    tree = nested(zip_of(deep, allowed), "a.zip")
    assert ["/".join(file.path) for file in tree.files] == [allowed]
    assert len(tree.folders) == MOST_PARTS
    assert [why for _, why in tree.left_out] == [TOO_DEEP]
    (tmp_path / "a" / ("a/" * MOST_PARTS)).mkdir(parents=True)
    (tmp_path / "a" / ("a/" * MOST_PARTS) / "x").touch()
    with opened(tmp_path) as tree:
        assert tree.files == ()
        assert len(tree.folders) == MOST_PARTS
        assert [why for _, why in tree.left_out] == [TOO_DEEP]


def test_what_was_unpacked_in_vain_takes_of_a_students_room():
    """A zip of a few kilobytes can hold thousands of members that unpack to 100 MB and are damaged."""
    read, notes = [], []

    def spoilt():
        read.append(1)
        raise Spoilt("it is damaged.", 100_000_000)

    assert contents([File((f"{n}",), spoilt) for n in range(20)], False, notes) == {}
    assert len(read) == 6
    assert len(notes) == 20


def test_a_damaged_member_tells_what_it_cost():
    data = bytearray(zip_of("x"))
    data[data.index(b"PK\x01\x02") + 16] ^= 1  # of its checksum
    [file] = nested(bytes(data), "a.zip").files
    with pytest.raises(Spoilt) as problem:
        file.read()
    assert problem.value.size == 1


def test_what_stands_in_a_students_row_is_not_told_again():
    tree = Tree((), left_out=((("ada", "hw", "x"), "a link"), (("bob", "x"), "a link")))
    row = Row("ada", "", "", "", ("left out hw/x: a link",))
    assert not_told(tree, [row]) == [(("bob", "x"), "a link")]
