import sys
from pathlib import Path

import pytest

from autograder.isolation import room
from autograder.isolation.room import Room, allow_list, student_room, what_a_submission_sees


@pytest.fixture
def checkout(tmp_path):
    for name in ("prefix/lib/site-packages/torch", "prefix/lib/site-packages/autograder", "prefix/bin"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def test_the_room_holds_the_interpreter_and_the_course_and_not_the_grader():
    here = student_room()
    visible = {path for path, seen in here.steps() if seen}
    assert {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()} <= visible
    assert room.package_path("course") in visible
    grader = room.package_path("autograder")
    covering = [path for path in visible if room.within(grader, path)]
    assert grader in here.hidden or not covering


def test_every_path_comes_after_the_ones_that_contain_it(checkout):
    prefix = checkout / "prefix"
    steps = list(Room((prefix, checkout), (prefix / "lib/site-packages/autograder",)).steps())
    assert [path for path, _ in steps] == [checkout, prefix, prefix / "lib/site-packages/autograder"]
    assert [visible for _, visible in steps] == [True, True, False]


def test_an_allow_list_opens_everything_but_what_is_hidden(checkout, monkeypatch):
    packages = checkout / "prefix/lib/site-packages"
    monkeypatch.setattr(room, "module_paths", lambda: {packages})
    readable, listable = allow_list(Room((checkout / "prefix",), (packages / "autograder",)))
    assert set(readable) == {checkout / "prefix/bin", packages / "torch"}
    assert listable == [packages]  # to list the prefix would be to list the hidden as well


def test_a_link_to_something_hidden_is_no_way_into_the_allow_list(checkout):
    (checkout / "prefix/exchange/inbound").mkdir(parents=True)
    (checkout / "prefix/way-in").symlink_to("exchange/inbound")
    readable, listable = allow_list(Room((checkout / "prefix",), (checkout / "prefix/exchange",)))
    assert set(readable) == {checkout / "prefix/bin", checkout / "prefix/lib"}
    assert listable == []


def test_a_folder_open_to_all_and_the_folder_in_use_are_in_nobodys_view(checkout, monkeypatch):
    for name in ("prefix/share/nbgrader/exchange/inbound", "prefix/courses/submitted"):
        (checkout / name).mkdir(parents=True)
    exchange = checkout / "prefix/share/nbgrader/exchange"
    exchange.chmod(0o777)
    monkeypatch.setattr(room, "SYSTEM", (checkout / "prefix",))
    monkeypatch.chdir(checkout / "prefix/courses")
    hidden = student_room().hidden
    assert {exchange, checkout / "prefix/courses"} <= set(hidden)


def test_a_folder_in_use_that_holds_the_interpreter_does_not_hide_it(monkeypatch):
    monkeypatch.chdir(sys.prefix)
    assert Path(sys.prefix).resolve() not in student_room().hidden


def test_a_course_inside_a_hidden_checkout_is_opened_again(checkout, monkeypatch):
    inside = checkout / "prefix" / "checkout"
    for name in ("course", "autograder", "solutions"):
        (inside / name).mkdir(parents=True)
    monkeypatch.setattr(room, "package_path", lambda name: inside / name)
    monkeypatch.setattr(room, "python_paths", lambda: {checkout / "prefix"})
    here = student_room()
    steps = dict(here.steps())
    assert steps[inside] is False
    assert steps[inside / "course"] is True
    readable, _ = allow_list(here)
    assert inside / "course" in readable
    assert not any(room.within(inside / "solutions", path) for path in readable)


def test_what_a_submission_sees_is_told_place_by_place(checkout):
    prefix = checkout / "prefix"
    lines = what_a_submission_sees(Room((prefix,), (prefix / "lib",)))
    assert lines[0] == f"{prefix}, to read, without {prefix / 'lib'}"
    assert any("with landlock" in line and "size" in line for line in lines)
