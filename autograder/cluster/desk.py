"""The grading server beside a Dask worker: one homework, one warm process, one judge forked per submission.

It has a single thread, because it forks; the worker has many. `autograder.cluster.worker` starts it as
`python -m autograder.cluster.desk DESCRIPTOR`; it ends when the worker does.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from autograder.cluster.parcel import Parcel
from autograder.cluster.shared_lock import SharedLock
from autograder.grading.attempt import Attempt, Tried, counts, verdict
from autograder.grading.forked import Lost, forked
from autograder.grading.paper import Paper
from autograder.grading.plan import Plan
from autograder.grading.pool import limits_of_a_judge, local_judges
from autograder.isolation import Level, Warm
from autograder.isolation.confinement import die_first, die_with_parent
from autograder.software import software

IDLE_SECONDS = 3600.0  # without a submission, after which it closes


@dataclass(frozen=True)
class Desk:
    """Everything a judge needs, loaded before it is forked."""

    plan: Plan
    level: Level
    warm: Warm
    lock: SharedLock

    def answer(self, paper: Paper) -> dict[str, Any]:
        """Have a submission judged alongside others, and again alone if that verdict does not count."""
        with self.lock.together():
            first = self.tried(paper)
        if counts(first):
            return {"graded": first["graded"]}
        with self.lock.alone():
            result = verdict(first, self.tried(paper))
        return {"lost": vars(result)} if isinstance(result, Lost) else {"graded": result}

    def tried(self, paper: Paper) -> Tried:
        """The result of one attempt, in a separate process."""
        attempt = Attempt(self.plan, self.level.name, self.warm)
        [(_, result)] = forked([paper], attempt, jobs=1, **limits_of_a_judge(self.plan.limits))
        return result


class AnotherVersion(RuntimeError):
    """The grader, Python, torch or numpy differ from those of the driver."""


@contextmanager
def opened(parcel: Parcel) -> Iterator[Desk]:
    """A desk for the parcel's homework, which is unpacked in a private directory while the desk is open."""
    order = parcel.order
    here = software()
    if others := [name for name, version in parcel.software.items() if here.get(name) != version]:
        raise AnotherVersion(f"its {' and '.join(others)} is of a different version than the driver's")
    with TemporaryDirectory(prefix="desk-") as root, local_judges(order.isolation, order.limits) as pool:
        parcel.unpack(Path(root))
        plan = order.plan(Path(root))
        plan.prepare()
        yield Desk(plan, pool.level, pool.warm(), SharedLock(Path(root)))


def serve(control: socket.socket, desk: Desk) -> None:
    """Fork a process for each submission that arrives, until the worker ends or has long sent none."""
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps them
    control.settimeout(IDLE_SECONDS)
    own = os.getpid()
    with suppress(TimeoutError):
        while descriptors := socket.recv_fds(control, 1, 1)[1]:
            if os.fork() == 0:
                attend(Connection(descriptors[0]), desk, own)
            os.close(descriptors[0])


def attend(connection: Connection, desk: Desk, parent: int) -> NoReturn:
    """In a separate process: read a submission, have it judged, and send the result or the error."""
    status = 1
    try:
        die_with_parent()
        die_first()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if os.getppid() == parent:
            connection.send_bytes(json.dumps(desk.answer(Paper.from_bytes(connection.recv_bytes()))).encode())
            status = 0
    except BaseException as problem:
        traceback.print_exc()
        reason = f"stopped with {type(problem).__name__}: {problem} (the worker's log says where)"
        with suppress(OSError):
            connection.send_bytes(json.dumps({"lost": reason}).encode())
    finally:
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver
    control = socket.socket(fileno=int(sys.argv[1]))
    _, [descriptor], _, _ = socket.recv_fds(control, 1, 1)
    with ExitStack() as stack:
        with Connection(descriptor) as connection:
            try:
                desk = stack.enter_context(opened(Parcel.from_bytes(connection.recv_bytes())))
            except Exception as problem:
                connection.send_bytes(json.dumps({"problem": f"{problem}"}).encode())
                sys.exit(f"{type(problem).__name__}: {problem}")
            connection.send_bytes(json.dumps(vars(desk.level)).encode())
        serve(control, desk)
        end_judges()


def end_judges() -> None:
    """End the judges still at work, before their sandboxes are removed."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpid(), signal.SIGTERM)  # the worker has put this process in its own group


if __name__ == "__main__":
    main()
