"""Excuses, extensions and marks by hand are on record, and the record is only added to."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from grading import NAME
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.marks.decisions import Decision, DecisionError, Decisions, in_words


@pytest.fixture
def log(course_folder):
    return Decisions(course_folder)


def word(log, *words):
    return main([*words, "--root", str(log.root)])


def test_what_was_decided_last_holds_and_what_was_before_stays_on_record(log):
    assert word(log, "excuse", NAME, "ada", "bo", "--why", "ill") == 0
    assert word(log, "excuse", NAME, "ada", "--undo") == 0
    assert log.excused(NAME) == {"bo"}
    assert [(entry.student, entry.value) for entry in log.all()] == [
        ("ada", True),
        ("bo", True),
        ("ada", False),
    ]
    assert all(entry.who and entry.time for entry in log.all())
    assert log.all()[0].why == "ill"


def test_it_is_said_who_was_excused_now_and_who_is_in_all(log, capsys):
    word(log, "excuse", NAME, "ada")
    capsys.readouterr()
    word(log, "excuse", NAME, "bo")
    assert capsys.readouterr().out.splitlines() == [f"now excused from {NAME}: bo", "excused in all: ada, bo"]
    word(log, "excuse", NAME, "ada", "--undo")
    assert capsys.readouterr().out.splitlines() == [
        f"no longer excused from {NAME}: ada",
        "excused in all: bo",
    ]


def test_an_extension_is_in_days_or_hours_and_can_be_changed(log):
    assert word(log, "extend", NAME, "ada", "--days", "2") == 0
    assert word(log, "extend", NAME, "ada", "--days", "1", "--hours", "12") == 0
    assert log.extensions(NAME) == {"ada": timedelta(hours=36)}
    assert log.all()[-1].before == 48


@pytest.mark.parametrize(
    "words",
    [["due", NAME], ["collect", "flat", "--homework", NAME, "--due"]],
    ids=lambda words: words[0],
)
def test_grace_is_told_once_and_stays_until_another_is_told(log, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "ada.ipynb").write_text("{}")
    words = [*words, "2026-11-20T23:59Z"]
    assert word(log, *words, "--grace", "10") == 0
    assert word(log, *words) == 0
    assert log.due(NAME, "ada") == datetime(2026, 11, 20, 23, 59, tzinfo=UTC)
    assert log.in_time_until(NAME, "ada") == datetime(2026, 11, 21, 0, 9, tzinfo=UTC)
    assert word(log, *words, "--grace", "0") == 0
    assert log.in_time_until(NAME, "ada") == log.due(NAME, "ada")
    grace = [(entry.before, entry.value) for entry in log.all() if entry.what == "grace in minutes"]
    assert grace == [(0, 10), (10, 0)]


def test_appending_never_changes_a_line_that_is_there(log):
    log.add(Decision(NAME, "ada", "excused", True))
    before = log.path.read_bytes()
    log.add(Decision(NAME, "bo", "excused", True))
    assert log.path.read_bytes().startswith(before)


def test_a_mark_by_hand_is_logged_once_and_again_when_it_changes(log):
    log.notice(NAME, {("mark by hand", "ada", "why"): 3.0})
    log.notice(NAME, {("mark by hand", "ada", "why"): 3.0})
    log.notice(NAME, {("mark by hand", "ada", "why"): 4.0})
    log.notice(NAME, {})
    assert [(entry.before, entry.value) for entry in log.all()] == [(None, 3.0), (3.0, 4.0), (4.0, None)]


def test_extra_credit_is_logged_apart_from_the_mark_of_the_same_cell(log):
    log.notice(NAME, {("mark by hand", "ada", "why"): 3.0, ("extra credit", "ada", "why"): 1.0})
    log.notice(NAME, {("mark by hand", "ada", "why"): 3.0})
    assert [(entry.what, entry.before, entry.value) for entry in log.all()] == [
        ("extra credit", None, 1.0),
        ("mark by hand", None, 3.0),
        ("extra credit", 1.0, None),
    ]


def test_an_empty_log_is_said_to_be_empty(log, capsys):
    assert word(log, "log", NAME) == 0
    assert capsys.readouterr().out == "Nothing is recorded.\n"


def test_who_noticed_a_mark_is_not_said_to_have_given_it(log, monkeypatch, capsys):
    monkeypatch.setenv("LOGNAME", "grace")
    log.notice(NAME, {("mark by hand", "ada", "why"): 3.0})
    log.set_due(NAME, datetime(2026, 11, 30, tzinfo=UTC), is_noticed=True)
    word(log, "excuse", NAME, "bo")
    capsys.readouterr()
    word(log, "log", NAME)
    who = [line.split("  ")[1] for line in capsys.readouterr().out.splitlines()]
    assert who == ["noticed by grace", "noticed by grace", "grace"]


def test_a_log_of_an_earlier_version_is_read(log):
    log.notice(NAME, {("mark by hand", "ada", "why"): 3.0})
    line = json.loads(log.path.read_text())
    del line["is_noticed"]
    log.path.write_text(json.dumps(line) + "\n")
    assert [entry.value for entry in log.all()] == [3.0]


def test_the_log_is_read_in_words(log, capsys):
    word(log, "extend", NAME, "ada", "--days", "2", "--why", "conference")
    word(log, "excuse", NAME, "bo")
    capsys.readouterr()
    assert word(log, "log", NAME, "--student", "ada") == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.endswith("mini_homework ada  extension in hours: none → 48 (conference)")


def test_no_entry_can_command_the_terminal(log):
    log.add(Decision(NAME, "\x1b[2J", "excused", True, why="a\nb"))
    assert all(line.isprintable() for line in in_words(log.all()))


def test_a_line_that_is_no_decision_is_named(log):
    log.add(Decision(NAME, "ada", "excused", True))
    with log.path.open("a") as file:
        file.write("{broken\n")
    with pytest.raises(DecisionError, match="line 2, is not a decision"):
        log.all()


@pytest.mark.parametrize(
    "words", [["excuse", NAME], ["extend", NAME, "--days", "1"], ["invite"]], ids=lambda words: words[0]
)
def test_a_name_that_the_gradebook_does_not_know_is_accepted_and_noted(log, capsys, words):
    def noted(*names):
        assert word(log, *words, *names) == 0
        return capsys.readouterr().err

    assert noted("adda") == ""  # nobody is known yet
    with Gradebook(f"sqlite:///{log.root / 'gradebook.db'}") as book:
        book.add_student("ada")
    assert noted("ada") == ""
    assert noted("ada", "adda", "zoe") == "Note: not in the gradebook: adda (or ada?), zoe.\n"
