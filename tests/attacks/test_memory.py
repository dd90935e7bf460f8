"""Memory that is taken and that no process is seen to hold."""

import pytest

from autograder.isolation import Died, tree

SHARED = """
import mmap
kept = []
for _ in range(8):
    kept.append(mmap.mmap(-1, 25 << 20))
    for begin in range(0, 25 << 20, 5 << 20):
        kept[-1][begin : begin + (5 << 20)] = bytes([7]) * (5 << 20)
        kept[-1].madvise(mmap.MADV_DONTNEED)  # out of this process, and not out of memory
"""


def test_memory_cannot_be_hidden_in_a_mapping_that_processes_share(student):
    """Each process might have as much of it as it may map, so that none is given any."""
    error = student.run(SHARED).error
    assert (error.class_name, error.line) == ("PermissionError", 4)


SOCKETS = """
import contextlib, os, socket, time
for _ in range(4):
    if os.fork() == 0: break
kept = []
with contextlib.suppress(OSError):
    while True:
        kept.append(socket.socketpair())
        for end in kept[-1]:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
            end.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True: end.send(bytes(1 << 16))
time.sleep(60)
"""


def test_memory_cannot_be_hidden_in_what_was_sent_and_not_received(student):
    with pytest.raises(Died, match="used more than 600 MB of memory"):
        student.run(SOCKETS)


def test_a_socket_holds_no_more_than_the_system_gives_to_everybody(student):
    source = (
        "import socket\n"
        "here, there = socket.socketpair()\n"
        "def room(): return here.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)\n"
        "before = room()\n"
        "for option in (socket.SO_SNDBUF, 32): here.setsockopt(socket.SOL_SOCKET, option, 1 << 30)\n"
        "print(room() == before)"
    )
    assert student.run(source).output == "True\n"


def test_memory_that_was_moved_to_a_disk_is_counted(monkeypatch):
    monkeypatch.setattr(tree, "status_of", lambda pid: {"Threads": 1, "RssAnon": 100, "VmSwap": 900})
    monkeypatch.setattr(tree, "fields_of", lambda path: {"Pss_Anon": 80, "SwapPss": 700})
    processes = tree.Tree()
    monkeypatch.setattr(processes, "pids", lambda: [1, 2])
    assert processes.census() == (2, 2000 << 10)
    assert processes.exact_memory() == 1560 << 10


def test_nobody_is_spared_when_memory_runs_out(student):
    source = (
        "for value in ('0', '-1000'):\n"
        "    try: open('/proc/self/oom_score_adj', 'w').write(value)\n"
        "    except OSError as refused: print(refused.errno in (13, 30))\n"
        "print(open('/proc/self/oom_score_adj').read())"
    )
    assert student.run(source).output.split() == ["True", "True", "1000"]


LOCKS = """
import errno, fcntl, os, struct
def lock(file, command, start):
    return fcntl.fcntl(file, command, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, start, 1, 0))
with open("locked", "wb+") as file:
    for command in (fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW):
        lock(file, command, 0)
    if os.fork() == 0:
        kind, *_ = struct.unpack("hhqqi4x", lock(file, fcntl.F_GETLK, 0))
        os._exit(kind == fcntl.F_UNLCK)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_no_memory_is_taken_by_locks_on_parts_of_files(student):
    """Thousands for each of thousands of open files: gigabytes of the kernel that count for no process."""
    assert student.run(LOCKS).output == "1\n"


def test_a_database_is_written_and_read_without_locks(student):
    source = (
        "import sqlite3\n"
        "for _ in range(2):\n"
        "    with sqlite3.connect('marks.db') as base:\n"
        "        base.execute('create table if not exists marks (points)')\n"
        "        base.execute('insert into marks values (3)')\n"
        "print(base.execute('select sum(points) from marks').fetchone())"
    )
    assert student.run(source).output == "(6,)\n"
