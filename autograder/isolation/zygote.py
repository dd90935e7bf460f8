"""The warm process: imports everything once, then forks a keeper per submission. It never runs student code.

One thread, no secrets, no request ever in its memory: what a submission needs is read only after the fork.
Started as `python -m autograder.isolation.zygote DESCRIPTOR SETTINGS` by `Warm`.
"""

import gc
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

import torch
from torch.nn import functional

from autograder.isolation import channel, large_pages
from autograder.isolation.cells import Shell, make_shell
from autograder.isolation.keeper import Keeper
from autograder.isolation.results import IsolationUnavailable
from autograder.isolation.room import Room, student_room
from autograder.isolation.sandboxes import SANDBOXES
from autograder.isolation.settings import Settings
from autograder.isolation.unprivileged import CannotDescend, descend

# What is received must not be handed on to programs that are started.
CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
FINISHED = object()


def import_all(names: tuple[str, ...]) -> None:
    """Import modules, and every part of the course; what is not installed is left out."""
    for name in names:
        import_quietly(name)
    course = importlib.import_module("course")
    for part in pkgutil.walk_packages(course.__path__, "course.", onerror=lambda name: None):
        import_quietly(part.name)


def import_quietly(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception as error:  # whatever is wrong with it is for the submission that imports it to meet
        print(f"{name} is not imported ahead: {error}", file=sys.stderr)


def warm_up() -> None:
    """Use torch once on one thread, so that its lazy parts are in memory before the first fork."""
    torch.set_num_threads(1)
    layers = (torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 3))
    model = torch.nn.Sequential(*layers)
    for optimizer_class in (torch.optim.SGD, torch.optim.AdamW):
        optimizer = optimizer_class(model.parameters(), lr=0.1)
        functional.cross_entropy(model(torch.ones(5, 4)), torch.zeros(5, dtype=torch.long)).backward()
        optimizer.step()
        optimizer.zero_grad()
    query = torch.ones(1, 2, 4, 8)
    functional.scaled_dot_product_attention(query, query, query)
    torch.einsum("bhid,bhjd->bhij", query, query).softmax(-1)
    torch.nn.LSTM(4, 4)(torch.ones(2, 1, 4))
    repr(query)
    torch.manual_seed(0)


def verify_forkable() -> None:
    """Raise RuntimeError unless this process has one thread and no children: a fork would not be safe."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return
    threads = len(list(tasks.iterdir()))
    if threads != 1:
        raise RuntimeError(f"the warm process has {threads} threads; forking it would not be safe")
    children = tasks / str(os.getpid()) / "children"
    if children.exists() and children.read_text().split():
        raise RuntimeError("the warm process has child processes")


def prepare(imports: tuple[str, ...], place: Path) -> tuple[Shell, Room]:
    """Import, warm up, give up root; leaves a process that is safe to fork."""
    shell = make_shell()  # before matplotlib, which looks for one when it is imported
    import_all(imports)
    warm_up()
    shell.run_cell("import matplotlib.pyplot; matplotlib.pyplot.plot([1, 2])", store_history=False)
    shell.user_ns.pop("matplotlib")
    shell.output.clear()
    room = student_room()
    if os.geteuid() == 0:
        descend(room, place)
    verify_forkable()
    gc.collect()
    gc.freeze()
    gc.disable()
    return shell, room


def serve(listener: socket.socket, keeper: Keeper, place: Path) -> NoReturn:
    """Fork a keeper for each pair of descriptors that arrives, until the grader is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are reaped by the kernel
    at_leisure = large_pages.gather()
    while True:
        while not is_asked(listener) and next(at_leisure, FINISHED) is not FINISHED:
            pass
        word, descriptors, _, _ = socket.recv_fds(listener, 1, 2, CLOSE_ON_EXEC)
        if not word:
            shutil.rmtree(place, ignore_errors=True)
            os._exit(0)  # skip torch's slow farewell
        if os.fork() == 0:
            keeper.run(listener, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def is_asked(listener: socket.socket) -> bool:
    """Whether the grader has said something, or has gone."""
    return bool(select.select([listener], [], [], 0)[0])


def refuse(listener: socket.socket, sentence: str) -> NoReturn:
    """Tell the grader why there will be no warm process."""
    channel.send(listener, json.dumps({"problem": sentence}).encode())
    sys.exit(sentence)


def main() -> None:
    gc.disable()  # what is imported is no garbage, and looking through it took a third of the start
    listener = socket.socket(fileno=int(sys.argv[1]))
    settings, place = Settings.from_text(sys.argv[2]), Path(os.environ["HOME"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        shell, room = prepare(settings.imports, place)
        sandbox = SANDBOXES[settings.level](room, place)
    except (CannotDescend, IsolationUnavailable) as problem:
        refuse(listener, str(problem))
    except Exception as error:
        refuse(listener, f"the warm process failed to start: {type(error).__name__}: {error}")
    channel.send(listener, json.dumps({"uid": os.geteuid()}).encode())
    serve(listener, Keeper(sandbox, shell), place)


if __name__ == "__main__":
    main()
