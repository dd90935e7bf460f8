"""A submission is taken when it is whole, once, and again when it has changed."""

import json

import pytest

from autograder.watching.arrivals import SECONDS_TO_FINISH, SECONDS_TO_SETTLE, STRING, Arrivals

NOTEBOOK = json.dumps({"cells": [{"source": 'a "brace { in a string'}], "nbformat": 4})


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def inbox(tmp_path):
    return Arrivals(tmp_path, clock=Clock())


def names(found):
    return [one.student for one in found]


def later(inbox, seconds=SECONDS_TO_SETTLE):
    inbox.clock.now += seconds
    return names(inbox.arrived("hw"))


def test_a_file_is_taken_once_it_stays_as_it_is(inbox):
    (inbox.folder / "ada.ipynb").write_text(NOTEBOOK)
    assert names(inbox.arrived("hw")) == []
    assert later(inbox, SECONDS_TO_SETTLE / 2) == []
    (inbox.folder / "ada.ipynb").write_text(NOTEBOOK + " ")
    assert later(inbox, SECONDS_TO_SETTLE / 2) == []
    assert later(inbox) == ["ada"]
    assert later(inbox) == []
    assert names(inbox.all("hw")) == ["ada"]


@pytest.mark.parametrize("length", [0, 1, 20, len(NOTEBOOK) - 3, len(NOTEBOOK) - 1])
def test_half_a_notebook_is_not_taken_until_it_is_clear_that_no_more_comes(inbox, length):
    (inbox.folder / "ada.ipynb").write_text(NOTEBOOK[:length])
    assert later(inbox) == []
    assert later(inbox) == []
    assert later(inbox, SECONDS_TO_FINISH) == ["ada"]


def test_a_folder_is_taken_again_when_a_file_beside_the_notebook_changes(inbox):
    folder = inbox.folder / "ada" / "hw"
    folder.mkdir(parents=True)
    (folder / "hw.ipynb").write_text(NOTEBOOK)
    later(inbox)
    assert later(inbox) == ["ada"]
    (folder / "timestamp.txt").write_text("2026-11-20 11:00:00 UTC")
    assert later(inbox) == []
    assert later(inbox) == ["ada"]


def test_who_has_handed_in_another_homework_only_has_not_handed_in(inbox):
    (inbox.folder / "ada" / "other").mkdir(parents=True)
    later(inbox)
    assert later(inbox) == []


def test_strings_that_never_end_take_linear_time():
    assert STRING.sub(b"", b'{"' + b'\\"' * 5_000_000) == b"{"
