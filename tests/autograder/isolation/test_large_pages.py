"""Memory is moved to large pages, and nothing in it changes."""

import mmap
import re
import socket
import time
from pathlib import Path

import pytest

from autograder.isolation import Warm, choose, zygote
from autograder.isolation.large_pages import LARGE_PAGE_BYTES, gather, own_memory

MAPS = """\
00400000-00600000 r-xp 00000000 fe:00 1234                       /usr/bin/python3.11
00600000-00a00000 rw-p 00200000 fe:00 1234                       /usr/bin/python3.11
01300000-01f10000 rw-p 00000000 00:00 0                          [heap]
7f0000100000-7f0000700000 rw-p 00000000 00:00 0
7f0000800000-7f0000c00000 r--p 00000000 00:00 0
7f0000c00000-7f0001000000 rw-s 00000000 00:05 77                 /memfd:shared (deleted)
7ffc00000000-7ffc00400000 rw-p 00000000 00:00 0                  [stack]
"""


def test_only_whole_large_pages_of_memory_that_is_this_processs_own_are_taken():
    assert list(own_memory(MAPS)) == [(0x1400000, 0x1E00000), (0x7F0000200000, 0x7F0000600000)]


def test_a_range_smaller_than_a_large_page_gives_nothing_to_move():
    (start, end), *_ = own_memory("7f0000100000-7f0000180000 rw-p 00000000 00:00 0")
    assert start >= end


def test_memory_is_the_same_after_it_was_moved_to_large_pages():
    with mmap.mmap(-1, 8 * LARGE_PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        for place in range(0, len(memory), mmap.PAGESIZE):
            memory[place] = place // mmap.PAGESIZE % 251
        before, large_before = bytes(memory), large_kilobytes()
        list(gather())
        assert bytes(memory) == before
        if large_kilobytes() == large_before:
            pytest.skip("this kernel does not gather small pages into large ones on request (Linux 6.1)")
        assert large_kilobytes() - large_before >= 6 * LARGE_PAGE_BYTES >> 10


def test_the_warm_process_moves_its_memory_when_nobody_asks():
    with mmap.mmap(-1, 2 * LARGE_PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory[:] = bytes(len(memory))
        before = large_kilobytes()
        list(gather())
        if large_kilobytes() == before:
            pytest.skip("this kernel does not gather small pages into large ones on request (Linux 6.1)")
    with Warm(choose("best"), imports=()) as warm:
        deadline = time.monotonic() + 60
        while large_kilobytes(warm.process.pid) < 20 * LARGE_PAGE_BYTES >> 10:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def large_kilobytes(process="self") -> int:
    """How much of a process's memory lies on large pages."""
    rollup = Path(f"/proc/{process}/smaps_rollup")
    if not rollup.exists():
        pytest.skip("this system does not tell what lies on large pages")
    return int(re.search(r"AnonHugePages:\s+(\d+)", rollup.read_text())[1])


def test_orphans_are_ended_while_pages_are_gathered(monkeypatch):
    """On a slow machine gathering takes longer than any submission."""
    looks = []
    monkeypatch.setattr(zygote, "end_orphans", lambda: looks.append("orphans"))
    monkeypatch.setattr(zygote, "LOOK_FOR_ORPHANS_SECONDS", 0.001)
    grader, listener = socket.socketpair()

    def pages():
        while len(looks) < 5:
            yield looks.append("page") if looks[-1] == "orphans" else None
        grader.send(b"s")
        yield

    with grader, listener:
        zygote.wait_for_request(listener, pages())
    assert looks[:4] == ["orphans", "page"] * 2
