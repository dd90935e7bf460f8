"""Memory on large pages, so that a fork copies one page-table entry instead of 512.

With torch imported, forking and ending a process then take about a third of the time. The first write to a
large page splits it and copies a small one, so a fork takes no more memory than before.
"""

import ctypes
import os
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.isolation.kernel import LIBC

MADV_COLLAPSE = 25  # Linux 6.1; see madvise(2)
LARGE_PAGE_BYTES = 2 << 20
OWN_MEMORY = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 *(\[heap\])?$", re.ASCII)


def gather() -> Iterator[None]:
    """Move this process's own memory to large pages, one page per step, as far as the kernel allows."""
    if not os.path.exists("/proc/self/maps"):
        return
    size = ctypes.c_size_t(LARGE_PAGE_BYTES)
    for start, end in own_memory(Path("/proc/self/maps").read_text()):
        for page in range(start, end, LARGE_PAGE_BYTES):
            LIBC.madvise(ctypes.c_void_p(page), size, MADV_COLLAPSE)  # advice, which may be refused
            yield


def own_memory(maps: str) -> Iterator[tuple[int, int]]:
    """The large pages that fit into writable memory of no file, from a text like /proc/self/maps."""
    for line in maps.splitlines():
        if found := OWN_MEMORY.match(line):
            start, end = (int(address, 16) for address in found.groups()[:2])
            yield -(-start // LARGE_PAGE_BYTES) * LARGE_PAGE_BYTES, end // LARGE_PAGE_BYTES * LARGE_PAGE_BYTES
