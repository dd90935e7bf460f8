"""The warm process: imports everything once, then forks a keeper per submission. It never runs student code.

It has one thread, no secrets, and never a request in its memory: a submission's data is read after the fork.
"""

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import torch

from autograder.isolation import channel, confinement, large_pages
from autograder.isolation.apart import imported_apart
from autograder.isolation.cells import Shell, make_shell
from autograder.isolation.keeper import Keeper
from autograder.isolation.results import IsolationUnavailable
from autograder.isolation.room import Room
from autograder.isolation.sandboxes import SANDBOXES
from autograder.isolation.settings import Settings
from autograder.isolation.tree import children_of, kill_group_of
from autograder.isolation.unprivileged import CannotDescend
from autograder.isolation.warm_up import has_children, other_threads, steps, take_carefully

# Received descriptors must not be inherited by programs that are started.
CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
FINISHED = object()
LOOK_FOR_ORPHANS_SECONDS = 1.0
MOST_BYTES = 1 << 24  # of the description of a room
DESCRIPTORS = 3  # to the keeper, to the student and back
REMEDY = (
    "Forking it would not be safe. Threads that exist from the start come from the build of PyTorch, or from "
    "something that Python is configured to load; PyTorch's build for CPUs starts none."
)


class HasThreads(RuntimeError):
    """The preparations have left threads behind."""


def prepare(settings: Settings) -> tuple[Shell, list[str]]:
    """Import and warm up, so that this process is safe to fork; the last result lists what was left out.

    Raises HasThreads if threads remain, RuntimeError if they would remain in any case.
    """
    shell = make_shell()  # before matplotlib, which looks for one when it is imported
    if threads := other_threads():
        raise RuntimeError(f"starting Python, torch and IPython leaves {in_words(threads)}. {REMEDY}")
    left_out = warm_up(shell, settings)
    if threads := other_threads():
        raise HasThreads(in_words(threads))
    if has_children():
        raise RuntimeError("the warm process has child processes")
    gc.freeze()  # collecting the little garbage of imports is not worth a third of a second
    gc.disable()
    return shell, left_out


def warm_up(shell: Shell, settings: Settings) -> list[str]:
    """Take all steps of the warm-up; if careful, omit and return those that would leave a thread."""
    torch.set_num_threads(1)
    ahead = steps(shell, settings.imports)
    if settings.careful:
        return list(take_carefully(list(ahead)))
    for step in ahead:
        step.take()
    return []


def in_words(threads: list[str]) -> str:
    return f"{len(threads)} more {'thread' if len(threads) == 1 else 'threads'} ({', '.join(threads)})"


def start_again(listener: socket.socket, settings: Settings) -> NoReturn:
    """Replace this process by a fresh one, which tries each step in a fork before taking it."""
    confinement.close_all_but({0, 1, 2, listener.fileno()})
    os.set_inheritable(listener.fileno(), True)
    text = replace(settings, careful=True).as_text()
    os.execv(sys.executable, [*sys.orig_argv[:-1], text])


def serve(listener: socket.socket, keeper: Keeper, place: Path) -> NoReturn:
    """Fork a keeper for each set of descriptors that arrives, until the grader disconnects."""
    confinement.adopt_orphans()
    at_leisure = large_pages.gather()
    while True:
        wait_for_request(listener, at_leisure)
        word, descriptors, _, _ = socket.recv_fds(listener, 1, DESCRIPTORS, CLOSE_ON_EXEC)
        if not word:
            end_all()
            shutil.rmtree(place, ignore_errors=True)
            os._exit(0)  # skips torch's slow exit
        if os.fork() == 0:
            keeper.run(listener, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def wait_for_request(listener: socket.socket, at_leisure: Iterator[object]) -> None:
    """Until the grader sends something, or disconnects; meanwhile end orphans and take steps at leisure."""
    patience = 0.0
    while True:
        end_orphans()
        look_again = time.monotonic() + LOOK_FOR_ORPHANS_SECONDS
        while time.monotonic() < look_again:
            if select.select([listener], [], [], patience)[0]:
                return
            if next(at_leisure, FINISHED) is FINISHED:
                patience = LOOK_FOR_ORPHANS_SECONDS


def end_orphans() -> None:
    """End what a keeper left behind that was killed itself, as the kernel may do when memory runs out.

    Keepers are in the process group of this process, students' processes are not. Children are reaped only
    afterwards: of processes that start the next one and end at once, an ended one still names the group.
    """
    for pid in children_of(os.getpid()) if sys.platform == "linux" else ():
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(pid) != os.getpgrp():
                kill_group_of(pid)
    reap()


def end_all() -> None:
    """End every keeper; what they leave behind becomes this process's, and is ended, too."""
    while found := children_of(os.getpid()) if sys.platform == "linux" else []:
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                kill_group_of(pid)
        reap()
        time.sleep(0.001)


def reap() -> None:
    """Forget children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def hear(listener: socket.socket) -> tuple[str, Room]:
    """The isolation level and the room, found out meanwhile; if the grader has ended, so does this one."""
    try:
        level, room = (channel.receive(listener, MOST_BYTES).decode() for _ in range(2))
    except EOFError:
        os._exit(0)
    return level, Room.from_text(room)


def refuse(listener: socket.socket, sentence: str) -> NoReturn:
    """Tell the grader why there will be no warm process."""
    tell(listener, {"problem": sentence})
    sys.exit(sentence)


def tell(listener: socket.socket, greeting: Mapping[str, object]) -> None:
    """Greet the grader; if it has ended meanwhile, this process ends too, and nobody needs to know."""
    try:
        channel.send(listener, json.dumps(greeting).encode())
    except (BrokenPipeError, ConnectionResetError):
        os._exit(0)


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    settings, place = Settings.from_text(sys.argv[2]), Path(os.environ["HOME"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        session = imported_apart("autograder.isolation.session").Session
        shell, left_out = prepare(settings)
        level, room = hear(listener)
        sandbox = SANDBOXES[level](room, place)
    except HasThreads as threads:
        if not settings.careful:
            start_again(listener, settings)
        refuse(listener, f"the warm process has {threads}, whatever is left out. {REMEDY}")
    except (CannotDescend, IsolationUnavailable) as problem:
        refuse(listener, str(problem))
    except Exception as error:
        refuse(listener, f"the warm process failed to start: {type(error).__name__}: {error}")
    tell(listener, {"uid": os.geteuid(), "left_out": left_out})
    serve(listener, Keeper(sandbox, shell, session), place)
