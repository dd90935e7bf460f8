"""One notebook can be tried and a regrading looked at before anything is written."""

import pytest
from grading import NAME, catalogue, new_course, solved, submit
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.grade import grade
from autograder.grading.told import without_repeats
from autograder.making.release import release
from autograder.marks.decisions import Decisions
from autograder.marks.records import RecordFolder

pytestmark = pytest.mark.usefixtures("one_warm_process")
WRONG = "width_is_always_three"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course in which one student was right and one took the width to be three."""
    course = new_course(tmp_path_factory.mktemp("preview") / "course")
    submit(course, "right", solved(course))
    path = submit(course, "wrong", solved(course, catalogue("misconceptions")[WRONG]))
    for name, text in (("timestamp.txt", "2026-11-20 11:00:00 UTC"), ("submission_secret.txt", "abc")):
        path.with_name(name).write_text(text)
    grade(NAME, course / "submitted", root=course, jobs=1)
    return course


def everything(course):
    return {
        path: path.read_bytes()
        for path in sorted(course.rglob("*"))
        if path.is_file() and path.suffix != ".log"
    }


def notebook(course, student):
    return course / "submitted" / student / NAME / f"{NAME}.ipynb"


def test_a_notebook_is_tried_and_its_student_is_shown_what_they_would_read(course, capsys):
    before = everything(course)
    words = ["try", str(notebook(course, "wrong")), "--root", str(course), "--student", "wrong"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "Moving average: 2 of 4" in out
    assert "✗ Averages are right for windows of any width." in out
    assert f"seed {str(RecordFolder(course / 'grades', NAME).find('wrong').seed)[:20]}" in out
    assert "isolation" in out
    assert "torch" in out
    assert everything(course) == before


def test_what_cannot_be_read_says_so_once_and_an_unknown_student_is_noted(course, tmp_path, capsys):
    broken = tmp_path / f"{NAME}.ipynb"
    broken.write_text('{"cells": [')
    assert main(["try", str(broken), "--root", str(course), "--student", "wrnog"]) == 0
    said = capsys.readouterr()
    assert said.out.count("the file is incomplete") == 1
    assert "✗" not in said.out
    assert said.err.startswith("Note: nobody called wrnog has been graded here")


def test_what_is_wrong_with_several_checks_in_a_row_is_said_once():
    assert without_repeats(["", "a", "a", "b", "", "b"]) == ["", "a", "", "b", "", "b"]


def test_what_a_student_reads_says_nothing_of_how_a_hidden_check_failed(course, capsys):
    main(["try", str(notebook(course, "wrong")), "--root", str(course)])
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("  ✗ Averages are right for windows of any width.")
    assert (
        lines[at + 1].strip() == "This hidden claim does not hold for your answer." or "hold" in lines[at + 1]
    )
    assert not any(character.isdigit() for character in lines[at + 1])


def test_receipts_of_nbgrader_come_with_the_graded_notebook(course):
    there = course / "autograded" / "wrong" / NAME
    assert (there / "timestamp.txt").read_text() == "2026-11-20 11:00:00 UTC"
    assert (there / "submission_secret.txt").read_text() == "abc"


def test_the_receipt_of_the_same_bytes_handed_in_again_is_handed_on(course):
    notebook(course, "wrong").with_name("submission_secret.txt").write_text("def")
    grade(NAME, course / "submitted", root=course, jobs=1)
    assert (course / "autograded" / "wrong" / NAME / "submission_secret.txt").read_text() == "def"


def test_a_regrading_is_looked_at_first_and_logged_when_it_is_done(course, edit, capsys):
    words = ["grade", NAME, "--submissions", str(course / "submitted"), "--root", str(course), "--jobs", "1"]
    assert main([*words, "--preview"]) == 0
    assert "No mark would change." in capsys.readouterr().out
    source = course / "solutions" / NAME / f"{NAME}.py"
    edit(source, 'check="averages_are_right" points=1', 'check="averages_are_right" points=3')
    release(course, NAME)
    before = everything(course)
    assert main([*words, "--preview"]) == 0
    out = capsys.readouterr().out
    assert "would change:" in out
    assert "moving_average 4 → 6" in out
    assert "Nothing was written" in out
    assert everything(course) == before
    assert main(words) == 0
    assert "Answers in words of 2 students must still be marked by hand" in capsys.readouterr().out
    logged = Decisions(course).all(NAME, "right")
    assert [(entry.what, entry.cell, entry.before, entry.value) for entry in logged] == [
        ("points", "moving_average", 4, 6)
    ]


def test_an_extension_and_late_without_a_time_reach_the_gradebook(course):
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('\nc.AssignLatePenalties.plugin_class = "autograder.marks.late.PerDay"\n')
        file.write("c.PerDay.percent_per_day = 10\n")
    Decisions(course).record_late(NAME, {"right": True})
    record = grade(NAME, course / "submitted", root=course, jobs=1)
    assert any("Late by an unknown time, so nothing is taken off: right." in note for note in record.notes)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("c.PerDay.unknown_counts_as_days = 1\n")
    assert not grade(NAME, course / "submitted", root=course, jobs=1).notes
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission(NAME, "right")
        assert submission.late_submission_penalty == pytest.approx(0.1 * submission.score)
    Decisions(course).record_late(NAME, {"right": False})
