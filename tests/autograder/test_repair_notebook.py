"""`autograder repair` makes a damaged notebook whole, says what it did, and only reads the original."""

import json

import nbformat
import pytest
from grading import NAME, RIGHT, named, new_course, released, solved

from autograder.cli import main
from autograder.collecting.repair_notebook import NOTHING, WouldOverwrite, repair_notebook
from autograder.source.released import NotReleased, source_cells
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import repair


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return new_course(tmp_path_factory.mktemp("repair") / "course")


def damaged(course, tmp_path, damage):
    """A solved notebook after something happened to it."""
    content = solved(course)
    damage(content)
    path = tmp_path / "mine.ipynb"
    path.write_text(json.dumps(content))
    return path


def as_after_colab(content):
    for cell in content["cells"]:
        cell["metadata"] = {"id": "abc"}
        cell.pop("id", None)


def without_a_check(content):
    content["cells"].remove(named(content, "moving_average-check"))


def with_a_cell_twice(content):
    place = content["cells"].index(named(content, "moving_average-check"))
    content["cells"].insert(place, json.loads(json.dumps(content["cells"][place])))


def with_a_changed_check(content):
    named(content, "moving_average-check")["source"] = "pass"


DAMAGES = {
    as_after_colab: "lost metadata",
    without_a_check: "Restored 1 check cell",
    with_a_cell_twice: "More than one copy of",
    with_a_changed_check: "Changed by the student and restored",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_repaired_and_named_and_the_original_kept(damage, course, tmp_path):
    path = damaged(course, tmp_path, damage)
    before = path.read_bytes()
    to, done = repair_notebook(path, NAME, course)
    assert any(DAMAGES[damage] in sentence for sentence in done)
    assert path.read_bytes() == before
    content = json.loads(to.read_text())
    start = [cell.name for cell in source_cells(released(course))]
    assert [cell.name for cell in source_cells(content)] == start
    assert RIGHT in "".join(named(content, "moving_average")["source"])


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_repaired_notebook_needs_no_repair_and_is_valid(damage, course, tmp_path):
    to, _ = repair_notebook(damaged(course, tmp_path, damage), NAME, course)
    nbformat.validate(nbformat.read(to, as_version=4))
    handed = parse(to.read_bytes())
    assert [*handed.flags, *repair(handed.cells, source_cells(released(course))).flags] == []


def test_no_hidden_check_is_put_into_it(course, tmp_path):
    to, _ = repair_notebook(damaged(course, tmp_path, without_a_check), NAME, course)
    assert "pelican_values" not in to.read_text()
    solutions = (course / "solutions" / NAME / f"{NAME}.ipynb").read_text()
    assert "pelican_values" in solutions


def test_what_the_student_added_stays_where_it_was(course, tmp_path):
    def with_a_cell_of_their_own(content):
        place = content["cells"].index(named(content, "moving_average"))
        content["cells"].insert(
            place, {"cell_type": "code", "metadata": {}, "source": "mine = 1", "outputs": []}
        )

    to, _ = repair_notebook(damaged(course, tmp_path, with_a_cell_of_their_own), NAME, course)
    sources = ["".join(cell["source"]) for cell in json.loads(to.read_text())["cells"]]
    assert sources[sources.index("mine = 1") + 1].startswith(RIGHT.partition("\n")[0])


def test_no_file_is_written_over(course, tmp_path):
    path = damaged(course, tmp_path, as_after_colab)
    repair_notebook(path, NAME, course)
    for to in (None, path):
        with pytest.raises(WouldOverwrite):
            repair_notebook(path, NAME, course, to)


def test_a_homework_that_was_never_released_is_named(course_folder, tmp_path):
    with pytest.raises(NotReleased, match="autograder release"):
        repair_notebook(tmp_path / "mine.ipynb", NAME, course_folder)


def test_the_word_says_what_it_did_and_where_the_result_is(course, tmp_path, capsys):
    path = damaged(course, tmp_path, lambda content: None)
    assert main(["repair", str(path), "--homework", NAME, "--root", str(course)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out == [NOTHING, f"written: {path.with_name('mine.repaired.ipynb')}"]


def test_what_is_no_notebook_is_refused_in_a_sentence(course, tmp_path, capsys):
    (tmp_path / "x.ipynb").write_text('{"cells": [')
    assert main(["repair", str(tmp_path / "x.ipynb"), "--homework", NAME, "--root", str(course)]) == 2
    assert "incomplete" in capsys.readouterr().err
