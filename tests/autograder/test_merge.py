"""Two people grade a class, each in a folder of their own; afterwards one folder has everybody's marks."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from grading import NAME, RIGHT, SHORT, new_course, solved, submit
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.grade import grade
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.exports.marks import marks_of
from autograder.marks.merge import Merge, MergeError, merge
from autograder.marks.records import RecordFolder

WRONG = RIGHT.replace("/ width", "/ 7")
pytestmark = pytest.mark.usefixtures("one_warm_process")


def grade_all(course, answers):
    for student, answer in answers.items():
        submit(course, student, solved(course, answer))
    grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=1)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """ada is in both folders, bob in the first and cy in the second."""
    first = new_course(tmp_path_factory.mktemp("merge") / "first")
    second = Path(shutil.copytree(first, first.with_name("second")))
    grade_all(first, {"ada": RIGHT, "bob": RIGHT})
    grade_all(second, {"ada": RIGHT, "cy": WRONG})
    return first, second


@pytest.fixture
def folders(graded, tmp_path):
    return [Path(shutil.copytree(course, tmp_path / course.name)) for course in graded]


def book(course):
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}")


def mark(course, student, points, words=None):
    with book(course) as gradebook:
        one = gradebook.find_grade("why_smooth", NAME, NAME, student)
        one.manual_score, one.needs_manual_grade = points, False
        gradebook.find_comment("why_smooth", NAME, NAME, student).manual_comment = words
        gradebook.db.commit()


def totals(course):
    return {mark.student: (mark.points, mark.waits_for_a_person) for mark in marks_of(course, NAME)}


def test_what_is_missing_is_taken_over_with_marks_by_hand_files_records_and_decisions(folders):
    first, second = folders
    mark(second, "cy", 2.0, "See me.")
    mark(second, "ada", 1.5)
    Decisions(second).add(
        Decision(NAME, "cy", "extension in hours", 48.0),
        Decision(NAME, "bob", "excused", True),
        Decision(NAME, "zoe", "excused", True),
        Decision(NAME, "", "due", "2026-11-20T12:00:00+00:00"),
        Decision(NAME, "yan", "excused", True),
    )
    Decisions(second).forget("yan")
    with book(second) as gradebook:
        gradebook.find_submission(NAME, "cy").extension = timedelta(hours=48)
        gradebook.update_or_create_student("cy", email="cy@example.org")
    theirs, before = totals(second), totals(first)
    found = merge(first, second)
    assert (found.submissions, found.conflicts) == (
        (f"{NAME} cy: all marks",),
        (f"{NAME} bob: not here, excused there; ours stays",),
    )
    assert found.granted == (f"{NAME} zoe: excused", f"{NAME} cy: extended by 48 hours")
    excused = {"zoe": (None, False)}
    assert totals(first) == {"bob": before["bob"], "ada": theirs["ada"], "cy": theirs["cy"]} | excused
    with book(first) as gradebook:
        submission = gradebook.find_submission(NAME, "cy")
        assert submission.extension == timedelta(hours=48)
        assert submission.student.email == "cy@example.org"
        assert gradebook.find_comment("why_smooth", NAME, NAME, "cy").manual_comment == "See me."
    record = RecordFolder(second / "grades", NAME).find("cy")
    assert RecordFolder(first / "grades", NAME).find("cy") == record
    for step in ("submitted", "autograded"):
        path = Path(step, "cy", NAME, f"{NAME}.ipynb")
        assert (first / path).read_bytes() == (second / path).read_bytes()
    assert Decisions(first).extensions(NAME) == {"cy": timedelta(hours=48)}
    assert Decisions(first).all(student="cy") == Decisions(second).all(student="cy")
    assert Decisions(first).excused(NAME) == {"zoe"}  # who has handed in nothing; bob is ours


def test_attempts_that_do_not_count_come_along(folders):
    first, second = folders
    kept = Path("submitted", ".kept", "cy", NAME, "undated-1", f"{NAME}.ipynb")
    (second / kept).parent.mkdir(parents=True)
    (second / kept).write_text("{}")
    merge(first, second)
    assert (first / kept).read_text() == "{}"


def test_another_extension_is_listed_and_ours_stays(folders):
    first, second = folders
    for course, hours in ((first, 24.0), (second, 72.0)):
        Decisions(course).add(Decision(NAME, "cy", "extension in hours", hours))
    for _ in range(2):
        assert merge(first, second).conflicts == (
            f"{NAME} cy: extended by 24 hours here, extended by 72 hours there; ours stays",
        )
    assert Decisions(first).extensions(NAME) == {"cy": timedelta(hours=24)}


def test_a_merge_that_was_interrupted_is_finished_by_the_next_one(folders, monkeypatch):
    first, second = folders
    Decisions(second).add(Decision(NAME, "cy", "excused", True))
    merges = [(shutil, "copytree"), (Merge, "_add")]  # what comes before, and what comes after the files
    for owner, name in merges:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, half_done(getattr(owner, name)))
            with pytest.raises(KeyboardInterrupt):
                merge(first, second)
    assert "cy" not in totals(first) or totals(first)["cy"][0] is None
    merge(first, second)
    assert totals(first)["cy"] == totals(second)["cy"]
    assert Decisions(first).all(student="cy") == Decisions(second).all(student="cy")
    for step in ("submitted", "autograded"):
        there = sorted(path.name for path in (second / step / "cy").rglob("*"))
        assert sorted(path.name for path in (first / step / "cy").rglob("*")) == there


def half_done(work):
    """The same work, after which the process is interrupted."""

    def interrupted(*arguments, **options):
        work(*arguments, **options)
        raise KeyboardInterrupt

    return interrupted


def test_a_second_time_there_is_nothing_and_grading_finds_everything_done(folders, capsys):
    first, second = folders
    merge(first, second)
    before = totals(first)
    assert main(["merge", str(second), "--root", str(first)]) == 0
    said = "taken over: 0 submissions, 0 marks by hand, 0 extended or excused; 0 differ and stay\n"
    assert capsys.readouterr().out == said
    records = {one.student: one for one in RecordFolder(first / "grades", NAME).all()}
    grade(NAME, first / "submitted", root=first, limits=SHORT, jobs=1)
    assert {one.student: one for one in RecordFolder(first / "grades", NAME).all()} == records
    assert totals(first) == before


def test_what_differs_stays_and_is_listed(folders, capsys):
    first, second = folders
    mark(first, "ada", 2.0)
    mark(second, "ada", 3.0)
    assert main(["merge", str(second), "--root", str(first)]) == 0
    assert f"{NAME} ada why_smooth: mark by hand 2 here, 3 there; ours stays" in capsys.readouterr().out
    assert totals(first)["ada"] == (6.0, False)
    submit(second, "ada", solved(second, WRONG))
    grade(NAME, second / "submitted", root=second, limits=SHORT, jobs=1)
    assert merge(first, second).conflicts == (f"{NAME} ada: other automatic points there; ours stay",)


def test_a_dry_run_changes_nothing(folders, capsys):
    first, second = folders
    before = {path: path.read_bytes() for path in first.rglob("*") if path.is_file()}
    assert main(["merge", str(second), "--dry-run", "--root", str(first)]) == 0
    assert capsys.readouterr().out.startswith(f"{NAME} cy: all marks\nto take over: 1 submission, 0 marks")
    after = {path: path.read_bytes() for path in first.rglob("*") if path.is_file() and path.name != ".lock"}
    assert after.items() <= before.items()


def test_another_version_or_what_was_never_released_is_refused_and_nothing_is_taken(folders):
    first, second = folders
    before = totals(first)
    with book(first) as gradebook:
        gradebook.find_graded_cell("why_smooth", NAME, NAME).max_score = 9
        gradebook.db.commit()
    with pytest.raises(MergeError, match=r"in another version \(why_smooth\)"):
        merge(first, second)
    with book(first) as gradebook:
        gradebook.remove_assignment(NAME)
    with pytest.raises(MergeError, match=f"run `autograder release {NAME}` there"):
        merge(first, second)
    with pytest.raises(MergeError, match="not another course folder"):
        merge(second, second)
    assert before.keys() == {"ada", "bob"}
