import sys
from pathlib import Path

import pytest

from autograder.isolation import exchange, room
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


@pytest.mark.parametrize("data", [None, Path("/cache")])
def test_a_room_is_the_same_after_it_was_sent_to_another_process(data):
    paths = (Path("/usr"), Path("/home/ada/with a space"))
    described = Room(paths, paths[1:], (), data)
    assert Room.from_text(described.as_text()) == described


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


def exchange_in(folder):
    """A folder for nbgrader's exchange below another one; everyone may write to it."""
    path = folder / "share/nbgrader/exchange"
    path.mkdir(parents=True)
    path.chmod(0o777)
    return path


def test_an_exchange_in_a_prefix_of_python_is_in_nobodys_view(checkout, monkeypatch):
    """As where conda installs nbgrader, below /opt."""
    path = exchange_in(checkout / "prefix")
    monkeypatch.setattr(room, "SYSTEM", ())
    monkeypatch.setattr(room, "python_paths", lambda: {checkout / "prefix"})
    assert path in student_room().hidden


def test_the_interpreter_stays_in_view_though_everyone_may_write_beside_it(checkout, monkeypatch):
    """As on a disk of Windows, on which everyone may do everything."""
    for folder in ("prefix/bin", "prefix/lib"):
        (checkout / folder).chmod(0o777)
    monkeypatch.setattr(
        room, "python_paths", lambda: {checkout / "prefix", checkout / "prefix/lib/site-packages"}
    )
    monkeypatch.setattr(sys, "executable", str(checkout / "prefix/bin/python"))
    assert not {checkout / "prefix/bin", checkout / "prefix/lib"} & set(student_room().hidden)


def test_an_exchange_five_folders_down_is_in_nobodys_view(checkout, monkeypatch):
    path = exchange_in(checkout / "prefix/local/teaching/courses")
    monkeypatch.setattr(room, "SYSTEM", (checkout / "prefix",))
    assert path in student_room().hidden


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "nbgrader_config.py",
            "c = get_config()\nif True:\n    c.Exchange.root = {root!r}\nopen('ran', 'w')",
        ),
        ("nbgrader_config.json", '{{"Exchange": {{"root": "{root}"}}}}'),
    ],
)
def test_the_exchange_that_nbgraders_settings_name_is_in_nobodys_view(checkout, monkeypatch, name, text):
    """However deep it is and whoever may write to it; the settings are read, and not run."""
    path = checkout / "prefix" / "/".join("abcdefgh") / "exchange"
    path.mkdir(parents=True)
    (checkout / name).write_text(text.format(root=str(path)))
    monkeypatch.setattr(room, "SYSTEM", (checkout / "prefix",))
    monkeypatch.chdir(checkout)
    assert path in student_room().hidden
    assert not (checkout / "ran").exists()


@pytest.mark.parametrize(
    "text", ["c.Exchange.root = 1", "(" * 9_000, "\x00", "[]", "{}", '{"Exchange": {"root": 1}}']
)
def test_settings_that_cannot_be_read_name_nothing(tmp_path, monkeypatch, text):
    for name in ("nbgrader_config.py", "nbgrader_config.json"):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(exchange, "jupyter_config_path", list)
    monkeypatch.chdir(tmp_path)
    assert list(exchange.exchanges()) == []


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
