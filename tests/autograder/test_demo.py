"""The demo does the whole way in a folder of its own, says how, and stops where code cannot be kept in."""

from pathlib import Path

import pytest

from autograder.isolation import IsolationUnavailable
from autograder.marks.records import HomeworkRecord
from autograder.marks.table import table
from autograder.sample import demo as showing
from autograder.sample.demo import demo, fresh_course
from autograder.sample.pictures import class_report
from autograder.software import code_on_disk
from autograder.source.loading import find, load

pytestmark = pytest.mark.usefixtures("one_warm_process_with_any_limits")

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.fixture(scope="module")
def shown(tmp_path_factory, lay_out):
    """The record, the folder and what was printed."""
    root = lay_out(tmp_path_factory.mktemp("repository"))
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", lambda *words, **_: printed.append(" ".join(map(str, words))))
        record = demo(root, homework="mini_homework")
    return record, root, "\n".join(printed)


def by_student(record):
    return {submission.student: submission for submission in record.submissions}


def test_the_class_is_large_and_mixed_enough_to_show_everything(shown):
    found = by_student(shown[0])
    assert len(found) >= 12
    assert found["amira"].points == found["ben"].points == 4
    assert found["dana"].status == found["lena"].status == "graded"
    assert found["mateo"].status == "could_not_run"
    assert found["oskar"].points == 0
    assert any("as after Colab" in flag for flag in found["nadia"].flags)
    assert sum(bool(exercise.diagnosis) for entry in found.values() for exercise in entry.exercises) >= 5


def test_every_mark_of_the_demo_has_its_seed_level_digest_and_conditions(shown):
    for record in shown[0].submissions:
        assert record.isolation == shown[0].isolation["level"]
        assert record.conditions["grader"] == code_on_disk()
        assert len(record.source) == 64
        assert (record.seed is not None) == (record.status == "graded")


def test_marks_mistakes_isolation_and_the_report_are_printed(shown):
    record, root, printed = shown
    assert "4 of 4" in printed
    assert "The sum of each window is divided by the number of all values." in printed
    assert f"Isolation: {record.isolation['level']}" in printed
    page = root / "demo" / "grades" / "mini_homework.html"
    assert str(page) in printed
    assert "Which mistakes the class makes" in page.read_text()


def test_the_readmes_picture_of_the_report_is_that_of_this_class(shown):
    record, root, _ = shown
    homework = load(root / "demo" / "solutions" / "mini_homework")
    assert (PICTURES / "class_report.svg").read_text() == class_report(record, homework)


def test_the_demo_can_be_run_again(shown):
    assert fresh_course(shown[1], "mini_homework") == shown[1] / "demo"
    assert not (shown[1] / "demo" / "submitted").exists()


def test_a_folder_that_is_not_the_demos_is_left_alone(course_folder):
    (course_folder / "demo").mkdir()
    (course_folder / "demo" / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="exists already"):
        demo(course_folder, homework="mini_homework")
    assert (course_folder / "demo" / "thesis.txt").exists()


def test_where_code_cannot_be_kept_in_the_demo_says_what_to_do_and_makes_nothing(course_folder, monkeypatch):
    def unavailable(wanted):
        raise IsolationUnavailable("this machine has neither")

    monkeypatch.setattr(showing, "choose", unavailable)
    with pytest.raises(IsolationUnavailable, match=r"(?s)this machine has neither.*--isolation none"):
        demo(course_folder, homework="mini_homework")
    assert not (course_folder / "demo").exists()


def test_the_table_of_nobody_is_empty(course_folder):
    assert table(HomeworkRecord("mini_homework"), find("mini_homework", course_folder)) == ""
