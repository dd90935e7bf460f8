"""Records survive the disk unchanged, and a half-written file is never met."""

import json
import os
import time
from dataclasses import replace

import pytest

from autograder.marks.records import (
    CheckRecord,
    ExerciseRecord,
    HomeworkRecord,
    RecordError,
    RecordFolder,
    SubmissionRecord,
    read_homework,
    read_submission,
    remove_left_over,
    to_json,
    write,
)

ADA = SubmissionRecord(
    student="ada",
    points=3.0,
    max_points=4.0,
    status="graded",
    flags=("The points were changed.",),
    seconds=0.25,
    exercises=(
        ExerciseRecord(
            "moving_average",
            3.0,
            4.0,
            ("divides_by_all",),
            (CheckRecord("averages_are_right", False, "failed", "expected [5.0], received [2.5]"),),
        ),
    ),
    source="ab12",
    seed=7,
)


def test_a_submission_reads_back_as_it_was_written(tmp_path):
    write(tmp_path / "ada.json", ADA)
    assert read_submission(tmp_path / "ada.json") == ADA


def test_a_second_judging_is_on_record_with_the_parts_that_the_grader_answered(tmp_path):
    [exercise] = ADA.exercises
    again = replace(ADA, exercises=(replace(exercise, judged_again=("window", "mean")),))
    write(tmp_path / "ada.json", again)
    assert json.loads((tmp_path / "ada.json").read_text())["exercises"][0]["judged_again"] == [
        "window",
        "mean",
    ]
    assert read_submission(tmp_path / "ada.json") == again


def test_a_homework_reads_back_as_it_was_written(tmp_path):
    record = HomeworkRecord(
        "mini", (ADA,), {"level": "bwrap", "reason": "it works"}, {"torch": "2.13"}, {"why": 3.0}
    )
    write(tmp_path / "mini.json", record)
    assert read_homework(tmp_path / "mini.json") == record


def test_the_json_has_the_documented_fields():
    submission = json.loads(to_json(HomeworkRecord("mini", (ADA,))))["submissions"][0]
    documented = {"student", "points", "max_points", "status", "problem", "flags", "seconds", "exercises"}
    assert documented <= submission.keys()
    exercise = submission["exercises"][0]
    assert exercise.keys() == {"name", "points", "max_points", "diagnosis", "checks", "told"}
    assert exercise["checks"][0].keys() == {"name", "hidden", "result", "message"}


def test_text_from_anywhere_survives_the_disk(tmp_path):
    odd = "Zoë \u202e \x00 \ud800 🦆"
    record = SubmissionRecord(odd.replace("\x00", ""), 0, 0, "graded", problem=odd)
    write(tmp_path / "odd.json", record)
    assert read_submission(tmp_path / "odd.json") == record


@pytest.mark.parametrize("text", ["", "{", "[]", '{"student": "ada"}', "nonsense"])
def test_what_is_no_record_is_said_to_be_none(tmp_path, text):
    (tmp_path / "ada.json").write_text(text)
    with pytest.raises(RecordError, match=r"ada\.json"):
        read_submission(tmp_path / "ada.json")


def test_a_write_that_fails_leaves_the_old_record_and_no_rubbish(tmp_path):
    write(tmp_path / "ada.json", ADA)
    with pytest.raises(TypeError):
        write(tmp_path / "ada.json", SubmissionRecord("ada", object(), 4.0, "graded"))
    assert read_submission(tmp_path / "ada.json") == ADA
    assert [path.name for path in tmp_path.iterdir()] == ["ada.json"]


def test_a_folder_finds_what_was_added_and_passes_over_what_is_broken(tmp_path):
    folder = RecordFolder(tmp_path, "mini")
    folder.add(ADA)
    (folder.path / "bob.json").write_text("{")
    assert folder.find("ada") == ADA
    assert folder.find("bob") is None
    assert folder.all() == [ADA]


def test_a_name_of_any_length_has_a_file(tmp_path):
    folder = RecordFolder(tmp_path, "mini")
    for name in ("n" * 255, "ü" * 120):
        record = SubmissionRecord(name, 0, 1, "graded")
        folder.add(record)
        assert folder.find(name) == record
    assert [record.student for record in folder.all()] == ["n" * 255, "ü" * 120]


def test_what_a_killed_grader_left_is_removed_once_it_is_old(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(SystemExit))
    monkeypatch.setattr(os, "unlink", lambda path: None)  # as if it had been killed
    with pytest.raises(SystemExit):
        write(tmp_path / "ada.json", ADA)
    monkeypatch.undo()
    [left] = tmp_path.iterdir()
    (tmp_path / ".another.part").write_text("of another program")
    remove_left_over([tmp_path, tmp_path / "missing"])
    assert left.exists()
    for path in tmp_path.iterdir():
        os.utime(path, times=(time.time() - 7200,) * 2)
    remove_left_over([tmp_path])
    assert [path.name for path in tmp_path.iterdir()] == [".another.part"]
