"""Each test confines a process of its own."""

import os
import signal
import socket

import pytest
from forked import forked, outcome

from autograder.isolation import confinement, landlock

pytestmark = pytest.mark.skipif(landlock.version() == 0, reason="this kernel has no Landlock")
DONE, REFUSED = "done", "PermissionError"


@pytest.fixture
def house(tmp_path):
    for name in ("readable", "listable", "writable", "closed"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "file").write_text(name)
    return tmp_path


def confined(house, action):
    """What an action returns in a process that has given up all but three directories."""

    def confine_and_act():
        confinement.forbid_new_privileges()
        readable = [house / "readable", house / "absent", "/usr", "/bin", "/lib", "/lib64"]
        landlock.restrict(readable, [house / "listable"], [house / "writable"])
        return action()

    return forked(confine_and_act)


@pytest.mark.parametrize(
    ("name", "reads", "lists", "writes"),
    [
        ("readable", DONE, DONE, REFUSED),
        ("listable", REFUSED, DONE, REFUSED),
        ("writable", DONE, DONE, DONE),
        ("closed", REFUSED, REFUSED, REFUSED),
    ],
)
def test_what_is_named_may_be_read_listed_or_written_and_nothing_else(house, name, reads, lists, writes):
    place = house / name
    assert confined(house, lambda: outcome((place / "file").read_text)) == reads
    assert confined(house, lambda: outcome(os.listdir, place)) == lists
    assert confined(house, lambda: outcome((place / "inner/new").write_text, "new")) == writes
    assert confined(house, lambda: outcome((place / "file").unlink)) == writes
    assert (place / "file").exists() == (writes == REFUSED)


def test_programs_it_starts_are_confined_too(house):
    command = "cat {}/{}/file >/dev/null 2>&1".format
    assert confined(house, lambda: os.system(command(house, "closed"))) != 0
    assert forked(lambda: os.system(command(house, "closed"))) == 0


@pytest.mark.skipif(landlock.version() < 4, reason="this Landlock does not know networks")
def test_tcp_connections_are_refused(house):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        assert forked(lambda: outcome(socket.create_connection, address, 5)) == DONE
        assert confined(house, lambda: outcome(socket.create_connection, address, 5)) == REFUSED


@pytest.fixture
def neighbour():
    process = os.fork()
    if process == 0:
        signal.alarm(60)
        signal.pause()
    yield process
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


@pytest.mark.skipif(landlock.version() < 6, reason="this Landlock does not know signals")
def test_a_process_shut_off_keeps_its_files_and_loses_its_neighbours(house, neighbour):
    def shut_off_and_look():
        confinement.forbid_new_privileges()
        landlock.shut_off()
        return [
            outcome((house / "closed/file").read_text),
            outcome(os.kill, neighbour, signal.SIGCONT),
            outcome(open, f"/proc/{neighbour}/mem", "rb"),
            outcome(os.kill, os.getpid(), signal.SIGCONT),
        ]

    assert forked(shut_off_and_look) == [DONE, REFUSED, REFUSED, DONE]
    assert forked(lambda: outcome(open, f"/proc/{neighbour}/mem", "rb")) == DONE
